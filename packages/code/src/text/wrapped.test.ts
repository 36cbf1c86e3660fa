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

describe("wrapped, for letters of several code points or columns", () => {
  it("breaks between graphemes alone", () => {
    const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
    const cluster = fc.constantFrom("👩‍👩‍👧", "🇩🇪", "👍🏽", "1️⃣", "e\u0301", "नि", "\u1112\u1161\u11ab", "世", "a", " ");
    fc.assert(
      fc.property(fc.array(cluster, { maxLength: 30 }), fc.integer({ min: 2, max: 12 }), (clusters, columns) => {
        const line = clusters.join("");
        const whole = [...graphemes.segment(line)].map(({ segment }) => segment).filter((segment) => segment !== " ");
        const broken = wrapped(line, columns).flatMap((row) => [...graphemes.segment(row)].map(({ segment }) => segment));
        expect(broken.filter((segment) => segment !== " ")).toEqual(whole);
      }),
    );
  });

  it("puts one letter into each row of a terminal that is narrower than a letter", () => {
    expect(wrapped("世界", 1)).toEqual(["世", "界"]);
  });

  it("keeps the space at the end of a row that text may follow", () => {
    expect(wrapped("abc ", 3)).toEqual(["abc", ""]);
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

  it("begins later rows behind the mark of the first, also behind a number", () => {
    expect(softWrapped("– notes are not trusted", 14)).toEqual(["– notes are", "  not trusted"]);
    expect(softWrapped("12  ✔ AGENTS.md is used", 18)).toEqual(["12  ✔ AGENTS.md is", "      used"]);
    expect(softWrapped("12 pears and 3 melons", 14)).toEqual(["12 pears and 3", "melons"]);
  });

  it("shows no dot between facts where a row ends or begins", () => {
    const style = createStyle(true);
    expect(softWrapped("abcdef · two", 7)).toEqual(["abcdef", "two"]);
    expect(softWrapped("one · two · three", 11)).toEqual(["one · two", "three"]);
    expect(softWrapped(`one ${style.dim("·")} two`, 6)).toEqual([`one${style.dim("·").replace("·", "")}`, "two"]);
  });
});
