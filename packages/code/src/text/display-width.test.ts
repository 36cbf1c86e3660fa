import { visibleWidth } from "@earendil-works/pi-tui";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayWidth, fitting, truncated, withoutTabs } from "./display-width.ts";
import { printable } from "./printable.ts";

const SAMPLES: readonly (readonly [name: string, text: string, columns: number])[] = [
  ["ASCII", "plain text", 10],
  ["a tab", "a\tb", 5],
  ["Latin with precomposed letters", "Grüße", 5],
  ["a combining mark", "e\u0301", 1],
  ["CJK", "世界", 4],
  ["full-width and half-width forms", "Ａｱ", 3],
  ["a half-width voiced mark", "ｶﾞ", 2],
  ["an emoji", "🚀", 2],
  ["a family of emoji", "👩‍👩‍👧", 2],
  ["a skin tone", "👍🏽", 2],
  ["a flag", "🇩🇪", 2],
  ["half of a flag", "🇩", 2],
  ["a keycap", "1️⃣", 2],
  ["a sign in the style of an emoji", "❤️", 2],
  ["the same sign in the style of text", "❤", 1],
  ["a syllable of Hangul jamo", "\u1112\u1161\u11ab", 2],
  ["Thai with marks above and an am", "น้ำ", 2],
  ["Devanagari", "नमस्ते", 4],
  ["box drawing and an ellipsis", "│─…", 3],
  ["a zero-width joiner alone", "\u200d", 0],
];

/** Text as people and models write it: pieces of many scripts, and everything that changes the width of what is beside it. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 6 }),
      fc.constantFrom(...SAMPLES.map(([, text]) => text)),
      fc.constantFrom(
        "\u200d",
        "\ufe0f",
        "\ufe0e",
        "\u20e3",
        "🏽",
        "🇫",
        "🇷",
        "\u0301",
        "\u0902",
        "\u094d",
        "क",
        "ष",
        "\u0e33",
        "\u0eb3",
        "\u1160",
        "ﾟ",
        "\t",
        " ",
      ),
      fc.integer({ min: 0x20, max: 0x1fbff }).map((code) => printable(String.fromCodePoint(code)).replaceAll("\n", "")),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

describe("displayWidth", () => {
  it.each(SAMPLES)("measures %s", (_name, text, columns) => {
    expect(displayWidth(text)).toBe(columns);
  });

  it("agrees with the measure of the editor and of Markdown for any text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(displayWidth(text)).toBe(visibleWidth(text));
      }),
      { numRuns: 1_000 },
    );
  });

  it("agrees with the measure of the editor for every code point alone", () => {
    // Control characters never reach the measure; ideographs and syllables of Hangul are many and alike.
    const skipped = [
      [0x7f, 0x9f],
      [0x3500, 0x9f00],
      [0xad00, 0xd700],
      [0x17100, 0x18a00],
    ] as const;
    const different: string[] = [];
    for (let code = 0x20; code < 0x20000; code += 1) {
      if (skipped.some(([first, last]) => code >= first && code <= last)) continue;
      const text = String.fromCodePoint(code);
      if (displayWidth(text) !== visibleWidth(text)) different.push(code.toString(16));
    }
    expect(different).toEqual([]);
  });

  it("measures a text without tabs as wide as the text with them", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(displayWidth(withoutTabs(text))).toBe(displayWidth(text));
      }),
    );
  });
});

describe("fitting", () => {
  it("returns the longest beginning that fits, and cuts no grapheme", () => {
    const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
    fc.assert(
      fc.property(anyText.map(withoutTabs), fc.integer({ min: 0, max: 20 }), (text, columns) => {
        const segments = [...graphemes.segment(text)].map(({ segment }) => segment);
        let expected = "";
        for (const segment of segments) {
          if (displayWidth(expected + segment) > columns) break;
          expected += segment;
        }
        expect(fitting(text, columns)).toBe(expected);
      }),
    );
  });

  it("cuts no grapheme that is longer than what is read at a time", () => {
    const zalgo = `e${"\u0301".repeat(1_000)}`;
    expect(fitting(`${zalgo}bc`, 2)).toBe(`${zalgo}b`);
    expect(fitting(`世${zalgo}`, 2)).toBe("世");
  });
});

describe("truncated", () => {
  it("never exceeds the columns, and marks what it cut", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 30 }), (text, columns) => {
        const shown = truncated(text, columns);
        expect(displayWidth(shown)).toBeLessThanOrEqual(columns);
        expect(shown === text || shown.endsWith("…")).toBe(true);
      }),
    );
  });
});
