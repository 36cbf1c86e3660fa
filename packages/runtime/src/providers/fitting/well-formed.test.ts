import type { JsonValue } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wellFormed, wellFormedJson } from "./well-formed.ts";

const anyJson = fc.jsonValue({ stringUnit: "binary", noUnicodeString: false } as object) as fc.Arbitrary<JsonValue>;

describe("text without UTF-8", () => {
  it("becomes U+FFFD in values and in keys, and two keys stay two", () => {
    expect(wellFormed({ "a\uD83D": ["\uDE00", "😀"], "a\uDE00": 1 })).toEqual({ "a\uFFFD": ["\uFFFD", "😀"], "a\uFFFD\uFFFD": 1 });
    expect(wellFormed("half \uD83D")).toBe("half \uFFFD");
  });

  it("leaves a value that is well formed the same object", () => {
    fc.assert(
      fc.property(fc.jsonValue() as fc.Arbitrary<JsonValue>, (value) => {
        if (JSON.stringify(value).includes(String.raw`\ud`)) return;
        expect(wellFormed(value)).toBe(value);
      }),
    );
  });

  it("leaves no half of a pair in any JSON value", () => {
    fc.assert(fc.property(anyJson, (value) => !/\\ud[89a-f]/.test(JSON.stringify(wellFormed(value)))));
  });

  it("becomes U+FFFD in JSON text, whether it stands there or its escape does", () => {
    expect(wellFormedJson(String.raw`{"a":"\ud83d"}`)).toBe(`{"a":"\uFFFD"}`);
    expect(wellFormedJson(String.raw`{"a":"\uD83D\uDE00\uDE00"}`)).toBe(String.raw`{"a":"\uD83D\uDE00` + `\uFFFD"}`);
    expect(wellFormedJson(`{"a":"\uD83D"}`)).toBe(`{"a":"\uFFFD"}`);
    // Not an escape, but a backslash and five letters.
    expect(wellFormedJson(String.raw`{"a":"\\ud83d"}`)).toBe(String.raw`{"a":"\\ud83d"}`);
    expect(wellFormedJson(String.raw`{"id":1917043659912705296}`)).toBe(String.raw`{"id":1917043659912705296}`);
  });
});
