import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PLAIN, type Row, type Span, textOf } from "./span.ts";
import { breakRow, cutRows, longestWord, rowWidth, wrapSpans } from "./wrap-spans.ts";

const spans = (text: string): Span[] => [{ text, look: PLAIN }];
const shown = (rows: readonly Row[]): string[] => rows.map(textOf);
const texts = fc.array(
  fc.record({
    text: fc.oneof(
      fc.stringMatching(/^[a-z ]{0,20}$/),
      fc.string({ unit: "grapheme", maxLength: 8 }).map((text) => text.replace(/[\n\r\t\v\f\u0085\u2028\u2029]/g, " ")),
    ),
    look: fc.constantFrom(PLAIN, { bold: true }),
  }),
  { maxLength: 8 },
);

describe("wrapSpans", () => {
  it("loses nothing but spaces at line ends, and keeps rows of short words within the width", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 40 }), (row, columns) => {
        const rows = wrapSpans(row, columns);
        expect(shown(rows).join("").replaceAll(" ", "")).toBe(textOf(row).replaceAll(" ", ""));
        const longest = longestWord(row);
        for (const one of rows) expect(rowWidth(one)).toBeLessThanOrEqual(Math.max(columns, longest + /^ */.exec(textOf(one))![0].length));
      }),
    );
  });

  it("breaks between Chinese characters, but not before their punctuation", () => {
    expect(shown(wrapSpans(spans("这是一个句子，结束"), 12))).toEqual(["这是一个句", "子，结束"]);
    expect(shown(wrapSpans(spans("see 中文 and more"), 8))).toEqual(["see 中文", "and more"]);
  });

  it("breaks Korean at its spaces", () => {
    expect(shown(wrapSpans(spans("한국어 문장도 있습니다"), 10))).toEqual(["한국어", "문장도", "있습니다"]);
  });

  it("keeps emoji families whole", () => {
    expect(shown(wrapSpans(spans("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧"), 4))).toEqual(["👩‍👩‍👧👩‍👩‍👧", "👩‍👩‍👧"]);
  });

  it("breaks no word whose parts look different", () => {
    expect(
      shown(
        wrapSpans(
          [
            { text: "one tw", look: PLAIN },
            { text: "o three", look: { bold: true } },
          ],
          5,
        ),
      ),
    ).toEqual(["one", "two", "three"]);
  });

  it("gives a long word a row of its own", () => {
    expect(shown(wrapSpans(spans("a abcdefghijkl b"), 6))).toEqual(["a", "abcdefghijkl", "b"]);
  });
});

describe("breakRow", () => {
  it("breaks after spaces where it can, and keeps every character", () => {
    expect(shown(breakRow(spans("  one  two abcdefghij"), 8))).toEqual(["  one  ", "two ", "abcdefgh", "ij"]);
    fc.assert(
      fc.property(texts, fc.integer({ min: 2, max: 20 }), (row, columns) => {
        const rows = breakRow(row, columns);
        expect(shown(rows).join("")).toBe(textOf(row));
        for (const one of rows) expect(rowWidth(one)).toBeLessThanOrEqual(columns);
      }),
    );
  });
});

describe("cutRows", () => {
  it("cuts at any character and loses none", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 2, max: 20 }), (row, columns) => {
        const rows = cutRows([row], columns);
        expect(shown(rows).join("")).toBe(textOf(row));
        for (const one of rows) expect(rowWidth(one)).toBeLessThanOrEqual(columns);
      }),
    );
  });
});
