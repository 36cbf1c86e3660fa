import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJsonc } from "./parse-jsonc.ts";

describe("parseJsonc", () => {
  it("reads JSON with comments, closing commas and the mark of an editor", () => {
    expect(
      parseJsonc('\uFEFF// servers\n{\n  "a": [1, /* two */ 2, ], // three\n  "b": { "c": "d", /* e */ }\n  /* , */\n  ,\n}\n// end'),
    ).toEqual({ a: [1, 2], b: { c: "d" } });
  });

  it("leaves texts alone that look like comments or closing commas", () => {
    const value = { url: "https://example.com/*x*/", list: "[1,]", quote: 'a "quoted // text",}', end: "\\" };
    expect(parseJsonc(JSON.stringify(value))).toEqual(value);
  });

  it("refuses what is neither JSON nor a comment or closing comma", () => {
    for (const text of [
      "",
      "{",
      "[,]",
      "{,}",
      "[1,,]",
      "[1 2]",
      "{a: 1}",
      "{'a': 1}",
      "/* a",
      '{"a": /1/}',
      "[1] /",
      ",",
      '{"a":,}',
      '["a',
    ])
      expect(() => parseJsonc(text), text).toThrow(SyntaxError);
  });

  it("keeps the digits of integers that a number does not hold", () => {
    expect(parseJsonc('{ "id": 12345678901234567890, }')).toEqual({ id: "12345678901234567890" });
  });

  it("reads every JSON as JSON.parse does, with comments and commas added or not", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), fc.constantFrom("", "/* x */", "// y\n", " "), (value, filler) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        expect(parseJsonc(JSON.stringify(value))).toEqual(plain);
        expect(parseJsonc(`${filler}[${filler}${JSON.stringify(value, undefined, 1)}${filler},${filler}]${filler}`)).toEqual([plain]);
      }),
    );
  });
});
