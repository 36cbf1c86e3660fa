import type { JsonValue } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonInText } from "./json-in-text.ts";

const word = fc.string({ unit: fc.constantFrom("a", " ", "\n", ".", '"', "1", "é", "'"), maxLength: 20 });
const container = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));

describe("finding JSON in a text", () => {
  it("finds what stands between words and in fences, in its order", () => {
    fc.assert(
      fc.property(word, container, fc.constantFrom("\n", "\n```json\n", " "), container, word, (before, first, between, second, after) => {
        const text = `${before}${JSON.stringify(first)}${between}${JSON.stringify(second, null, 2)}${after}`;
        expect(JSON.stringify([...jsonInText(text)])).toBe(JSON.stringify([first, second]));
      }),
      { numRuns: 300 },
    );
  });

  it.each<[string, readonly JsonValue[]]>([
    ["12", [12]],
    [' "text" ', ["text"]],
    ['Use {braces} or [brackets] as in {"a": 1}.', [{ a: 1 }]],
    ['```json\n{"a": [1]}\n```', [{ a: [1] }]],
    ['According to [1], {"a": 1}', [[1], { a: 1 }]],
    ['{"a": {"b": 1}}', [{ a: { b: 1 } }]],
    ["no JSON", []],
    ['cut {"a": [{"b": 1}', []],
    ["", []],
  ])("reads %s as %j", (text, expected) => {
    expect([...jsonInText(text)]).toEqual(expected);
  });

  it("gives up on what only looks like JSON again and again, instead of reading it over and over", () => {
    const text = `${"[".repeat(400)}${"1,".repeat(20_000)}x {"a": 1}`;
    expect([...jsonInText(text)]).toEqual([]);
  });
});
