import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { truncateText } from "./truncate-text.ts";

const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom("a", "b", "\n", "é", "語", "🙂", "\ud83d"), fc.string({ unit: "binary", minLength: 1, maxLength: 1 })),
  maxLength: 400,
});

describe("truncating a text", () => {
  it("never passes the limit in UTF-8, and leaves alone what fits [2.10]", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 500 }), (text, maxBytes) => {
        const result = truncateText(text, maxBytes);
        expect(Buffer.byteLength(result.text)).toBeLessThanOrEqual(maxBytes);
        expect(result.truncated).toBe(Buffer.byteLength(text) > maxBytes);
        if (!result.truncated) expect(result.text).toBe(text);
      }),
      { numRuns: 1_000 },
    );
  });

  it("keeps a head and a tail of the original, and accounts for every line or character between them [2.10]", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 60, max: 300 }), (text, maxBytes) => {
        const result = truncateText(text, maxBytes);
        if (!result.truncated) return;
        const match = /^([^]*?)\n?\[\.\.\. (\d+) (lines|characters) omitted \.\.\.\]\n?([^]*)$/.exec(result.text);
        const [, head = "", count = "", unit = "", tail = ""] = match ?? [];
        const original = text.toWellFormed();
        expect(original.startsWith(head)).toBe(true);
        expect(original.endsWith(tail)).toBe(true);
        expect(Number(count)).toBeGreaterThan(0);
        if (unit === "lines") expect(Number(count)).toBeLessThanOrEqual(text.split("\n").length);
      }),
      { numRuns: 1_000 },
    );
  });

  it("never cuts inside a character", () => {
    for (const char of ["é", "語", "🙂"]) {
      for (let maxBytes = 1; maxBytes < 200; maxBytes++) expect(truncateText(char.repeat(200), maxBytes).text).not.toMatch(/\ufffd/);
    }
  });

  it("cuts at ends of lines and counts the lines between", () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
    const { text } = truncateText(lines.join("\n"), 160);
    expect(text).toBe(
      "line 0\nline 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\n[... 84 lines omitted ...]\nline 93\nline 94\nline 95\nline 96\nline 97\nline 98\nline 99",
    );
  });

  it("counts characters inside one long line", () => {
    expect(truncateText("x".repeat(1_000), 100).text).toMatch(/^x+\n\[\.\.\. 9\d\d characters omitted \.\.\.\]\nx+$/);
  });
});
