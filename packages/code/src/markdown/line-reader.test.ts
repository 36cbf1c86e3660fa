import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunked, markdownNoise } from "../../test/markdown-arbitrary.ts";
import { createLineReader } from "./line-reader.ts";

function linesOf(chunks: readonly string[]): string[] {
  const reader = createLineReader();
  return [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()];
}

describe("createLineReader", () => {
  it("returns the same safe lines however the text is cut", () => {
    fc.assert(
      fc.property(markdownNoise, fc.array(fc.nat(), { maxLength: 20 }), (text, cuts) => {
        const lines = linesOf(chunked(text, cuts));
        expect(lines).toEqual(linesOf([text]));
        // oxlint-disable-next-line no-control-regex -- looking for exactly these
        expect(lines.join("")).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }),
    );
  });

  it("takes line ends of Windows, and fills tabs up to multiples of four", () => {
    expect(linesOf(["a\r", "\nb\tc\n\td"])).toEqual(["a", "b   c", "    d"]);
  });

  it("cuts a line without end, at a space if it has one, in whatever pieces it comes", () => {
    const text = `${"word ".repeat(4_000)}${"x".repeat(20_000)}${"😀".repeat(10_000)}`;
    const lines = linesOf([text]);
    expect(lines.join(" ").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(16_000);
    expect(lines.every((line) => line.isWellFormed())).toBe(true);
    expect(
      linesOf(
        chunked(
          text,
          Array.from({ length: 50 }, (_, index) => index * 997),
        ),
      ),
    ).toEqual(lines);
  });
});
