import type { JsonValue } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arrivedIntegers, jsonText, markCopy, markInteger, parseJson, restoreIntegers } from "./parse-json.ts";

describe("parsing JSON from outside", () => {
  it("keeps the digits of an integer as text, and rounds fractions as usual", () => {
    expect(parseJson('{"id":1917043659912705296,"all":[-9007199254740993,9007199254740991,0.12345678901234567890],"big":1e400}')).toEqual({
      id: "1917043659912705296",
      all: ["-9007199254740993", 9007199254740991, 0.12345678901234568],
      big: "1e400",
    });
    expect(parseJson("1917043659912705296")).toBe("1917043659912705296");
  });

  it("is JSON.parse for any text without such an integer", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (text) => {
        expect(parseJson(text)).toStrictEqual(JSON.parse(text));
      }),
    );
    expect(parseJson('{"a":"1917043659912705296 ]","b":[1.2345678901234567]}')).toStrictEqual({
      a: "1917043659912705296 ]",
      b: [1.2345678901234567],
    });
  });

  it.each([
    "{1917043659912705296: 1}",
    "01917043659912705296",
    "[1917043659912705296",
    "1917043659912705296n",
    '"a" 1917043659912705296',
    "",
    "-",
  ])("refuses what is no JSON: %s", (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  it("writes the integers as numbers again, in depth, in their order, and under any name", () => {
    for (const text of [
      '{"a":1917043659912705296,"b":[[{"__proto__":-9007199254740993}],1],"c":"1917043659912705296"}',
      '{"constructor":{"prototype":[1e400,18446744073709551615]},"0":9007199254740993}',
    ]) {
      const compact = JSON.stringify(JSON.parse(text.replaceAll(/(?<![\d"])-?\d[\de]{3,}/g, (digits) => `"#${digits}"`))).replaceAll(
        /"#([^"]*)"/g,
        "$1",
      );
      expect(jsonText(parseJson(text))).toBe(compact);
    }
    const value = parseJson('{"a":1e400,"b":1917043659912705296}');
    expect(JSON.stringify(restoreIntegers(value, true))).toBe('{"a":"1e400","b":1917043659912705296}');
  });

  it("forgets an integer whose member was changed, and takes over those of a copy that says so", () => {
    const value = parseJson('{"a":1917043659912705296,"b":{"c":9007199254740993}}') as { a: JsonValue; b: JsonValue };
    expect(arrivedIntegers(value)).toEqual([
      { path: ["a"], digits: "1917043659912705296" },
      { path: ["b", "c"], digits: "9007199254740993" },
    ]);
    expect(jsonText({ ...value })).toBe('{"a":"1917043659912705296","b":{"c":"9007199254740993"}}');
    expect(jsonText(markCopy({ ...value }, value))).toBe('{"a":1917043659912705296,"b":{"c":9007199254740993}}');
    value.a = 5;
    expect(jsonText(value)).toBe('{"a":5,"b":{"c":9007199254740993}}');
    const made = { list: ["18446744073709551615"] };
    markInteger(made, ["list", 0], "18446744073709551615");
    expect(jsonText(made)).toBe('{"list":[18446744073709551615]}');
  });

  it("takes the last of two members of one name, as JSON.parse does", () => {
    const value = parseJson('{"a":1917043659912705296,"a":5}');
    expect(value).toEqual({ a: 5 });
    expect(arrivedIntegers(value)).toEqual([]);
    expect(jsonText(value)).toBe('{"a":5}');
  });
});
