import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayWidth } from "./display-width.ts";
import { createStyle } from "./style.ts";
import { softWrapped, wrapped } from "./wrapped.ts";

describe("wrapped", () => {
  it("breaks at spaces, loses nothing else, and keeps every row within the width", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }).filter((text) => !/[\n\r]/.test(text)),
        fc.integer({ min: 4, max: 30 }),
        (line, columns) => {
          const rows = wrapped(line, columns);
          expect(rows.join("").replaceAll(" ", "")).toBe(line.replaceAll(" ", ""));
          for (const row of rows) expect(displayWidth(row)).toBeLessThanOrEqual(columns);
        },
      ),
    );
  });
});

describe("softWrapped", () => {
  it("keeps colours out of the width, indents what goes on, and leaves a long word whole", () => {
    const style = createStyle(true);
    expect(softWrapped(style.red("one two"), 7)).toEqual([style.red("one two")]);
    expect(softWrapped("  one two three", 9)).toEqual(["  one two", "  three"]);
    expect(softWrapped("take abcdefghijklmnop", 10)).toEqual(["take", "abcdefghijklmnop"]);
    expect(softWrapped("", 10)).toEqual([""]);
  });
});
