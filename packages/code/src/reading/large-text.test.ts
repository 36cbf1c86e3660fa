import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLargeText, type LargeText } from "./large-text.ts";
import { presentLarge } from "./present-large.ts";
import { splitText } from "./split-lines.ts";

const { signal } = new AbortController();

function open(bytes: Uint8Array, encoding = "utf-8", read: { bytes: number } = { bytes: 0 }): LargeText {
  return createLargeText({
    size: bytes.byteLength,
    encoding,
    markBytes: 0,
    async readPart(start, end) {
      read.bytes += end - start;
      return bytes.subarray(start, end);
    },
  });
}

describe("a text that is read in parts", () => {
  it.each(["utf-8", "utf-16le"] as const)("has the lines of the whole in %s", async (encoding) => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom("a", "é", "中", "\n", "\r\n", "\u{1F600}") }),
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 0, max: 10 }),
        async (text, start, more) => {
          const { lines, lineEnds } = splitText(text);
          if (lineEnds === "cr") return;
          const large = open(Buffer.from(text, encoding === "utf-8" ? "utf8" : "utf16le"), encoding);
          expect(await large.count(signal)).toBe(lines.length);
          const found = await large.lines({ start, end: start + more, maxBytes: 1000 }, signal);
          expect(found.map((line) => line.text)).toEqual(lines.slice(start - 1, start + more));
        },
      ),
      { numRuns: 150 },
    );
  });

  it("is shown by beginning and end, and never read for more than it needs", async () => {
    const line = `${"x".repeat(1023)}\n`;
    const bytes = Buffer.from(line.repeat(20_000));
    const read = { bytes: 0 };
    const large = open(bytes, "utf-8", read);
    expect((await large.lines({ start: 10, end: 12, maxBytes: 10_000 }, signal)).length).toBe(3);
    expect(read.bytes).toBeLessThan(bytes.byteLength);
    const text = await presentLarge(large, { name: "a.log", ranges: undefined, maxTokens: 40_000, signal });
    expect(text).toMatch(/^1\txxx/);
    expect(text).toMatch(/^20000\txxx/m);
    expect(text).toContain("a.log has 20,480,000 bytes in 20,000 lines");
    const last = await presentLarge(large, { name: "a.log", ranges: [{ kind: "last", count: 2 }], maxTokens: 4_000, signal });
    expect(last.split("\n").map((shown) => shown.split("\t")[0])).toEqual(["19999", "20000"]);
    expect(await presentLarge(large, { name: "a.log", ranges: [{ kind: "lines", start: 30_000 }], maxTokens: 4_000, signal })).toBe(
      "[The file has 20,000 lines; line 30000 is behind its end.]",
    );
  });

  it("cuts an endless line, and reads on in it by bytes", async () => {
    const bytes = Buffer.from(`first\n${"é".repeat(3_000_000)}\nlast\n`);
    const large = open(bytes);
    const shown = await presentLarge(large, { name: "a.log", ranges: [{ kind: "lines", start: 1, end: 3 }], maxTokens: 30_000, signal });
    const next = /ranges \["2:(\d+)-"\]/.exec(shown)?.[1];
    expect(next).toBe("8193");
    expect(shown).toMatch(/^3\tlast$/m);
    const part = await presentLarge(large, {
      name: "a.log",
      ranges: [{ kind: "characters", line: 2, from: 8193, to: 8196 }],
      maxTokens: 3_000,
      signal,
    });
    expect(part).toContain("2:8193-8196\téé\n");
  });

  it("stops when its signal fires", async () => {
    const stopped = AbortSignal.abort(new Error("enough"));
    await expect(open(Buffer.from("a\nb\n")).count(stopped)).rejects.toThrow("enough");
  });
});
