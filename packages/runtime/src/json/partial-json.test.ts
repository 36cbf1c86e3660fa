import type { JsonValue } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonText, parseJson } from "./parse-json.ts";
import { PartialJson } from "./partial-json.ts";

const written = fc
  .tuple(fc.jsonValue({ maxDepth: 5, stringUnit: "binary" }), fc.constantFrom(undefined, 1, "\t\n"))
  .map(([value, indent]) => JSON.stringify(value, null, indent));

const awkward = fc
  .array(fc.constantFrom("a", "é", "🙂", "\\", '"', "\u0000", "\n", "\ud83d", "\ude00", "__proto__"), { maxLength: 8 })
  .map((parts) => parts.join(""));
const awkwardText = fc.dictionary(awkward, fc.oneof(awkward, fc.array(awkward))).map((value) => JSON.stringify(value));
/** Every character as an escape. */
const escapedText = awkward.map(
  (text) =>
    `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0").toUpperCase()}`).join("")}"`,
);
/**
 * A name that begins with a backslash spoils V8's own parser (13.6): once it has read `{"\\n":1,"\\\\":1}` it reads
 * `{"\\n":1,"\\t":1}` with a backslash for the tab, since it compares the text of a name with the name that it expects there. Names that
 * begin with any escape are left out, because an earlier text may have spoilt the reading of a later one.
 */
const spoilsParsing = /"\\.(?:[^"\\]|\\.)*"\s*:/;
const anyText = fc.oneof(written, awkwardText, escapedText).filter((text) => !spoilsParsing.test(text));

/** Whether `part` is what came of `whole` when its text had come so far: everything but the last of each level is as in the whole. */
function isBeginning(part: unknown, whole: unknown): boolean {
  if (typeof part === "string") return typeof whole === "string" && whole.startsWith(part);
  if (typeof part !== "object" || part === null) return Object.is(part, whole);
  if (typeof whole !== "object" || whole === null || Array.isArray(part) !== Array.isArray(whole)) return false;
  const keys = Object.keys(part);
  const unfinished = keys.filter((key) => !same(at(part, key), at(whole, key)));
  return (
    keys.every((key) => Object.hasOwn(whole, key)) &&
    unfinished.length <= 1 &&
    unfinished.every((key) => isBeginning(at(part, key), at(whole, key))) &&
    (!Array.isArray(part) || unfinished.every((key) => Number(key) === part.length - 1))
  );
}

function at(value: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function partialOf(text: string): { readonly value: JsonValue | undefined; readonly reader: PartialJson } {
  const reader = new PartialJson();
  reader.push(text);
  return { value: reader.snapshot(), reader };
}

describe("reading JSON as it arrives", () => {
  it("shows at every character the beginning of the whole, and at the end the whole", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const whole = JSON.parse(text) as JsonValue;
        const reader = new PartialJson();
        for (const char of text.split("")) {
          reader.push(char);
          const part = reader.snapshot();
          if (part !== undefined && !isBeginning(part, whole)) expect(part).toEqual(whole);
          expect(reader.status).not.toBe("broken");
        }
        reader.end();
        expect(reader.status).toBe("complete");
        expect(JSON.stringify(reader.snapshot())).toBe(JSON.stringify(whole));
      }),
      { numRuns: 500 },
    );
  });

  it("shows the same however the text is cut", () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.nat(20)), (text, cuts) => {
        const reader = new PartialJson();
        let from = 0;
        for (const cut of cuts) {
          reader.push(text.slice(from, from + cut));
          from += cut;
          expect(same(reader.snapshot(), partialOf(text.slice(0, from)).value)).toBe(true);
        }
      }),
    );
  });

  it("shows more and more, and what it showed stays as it was", () => {
    fc.assert(
      fc.property(written, (text) => {
        const reader = new PartialJson();
        const shown: { readonly value: JsonValue | undefined; readonly text: string }[] = [];
        for (const char of text) {
          const { changes } = reader;
          reader.push(char);
          const value = reader.snapshot();
          if (reader.changes === changes && shown.length > 0) expect(same(value, shown.at(-1)?.value)).toBe(true);
          shown.push({ value, text: JSON.stringify(value) });
        }
        for (const one of shown) expect(JSON.stringify(one.value)).toBe(one.text);
      }),
    );
  });

  it.each<[string, unknown]>([
    ['{"a": 1', {}],
    ['{"a": 1,', { a: 1 }],
    ['{"a": tru', {}],
    ['{"a": "on', { a: "on" }],
    ['{"a', {}],
    ['{"a": {"b": [', { a: { b: [] } }],
    ['[1, [2, 3], "x', [1, [2, 3], "x"]],
    ['"a \\u26', "a "],
    ['"\\ud83d', ""],
    ['"\\ud83d\\ude42', "🙂"],
    ["12", undefined],
    ["", undefined],
  ])("shows of %s only what is sure", (text, expected) => {
    expect(partialOf(text).value).toEqual(expected);
  });

  it.each([
    "x",
    "[the]",
    "{a: 1}",
    "{'a': 1}",
    "[1,]",
    '{"a":1,}',
    '{"a" 1}',
    "[1 2]",
    "[01]",
    "[+1]",
    "[1.]",
    "[.5]",
    "[NaN]",
    "[trueish]",
    "[1}",
    '{"a":1]',
    '["\n"]',
    '["\\x"]',
    '["\\u12g4"]',
    '["a" "b"]',
    "[[1],,]",
    "{,}",
    "[,]",
    "]",
  ])("is broken by %s, whose beginning stands", (text) => {
    const { reader } = partialOf(text);
    expect(reader.status).toBe("broken");
    const { changes } = reader;
    reader.push('{"more": 1}');
    expect(reader.changes).toBe(changes);
  });

  it("is broken by what is nested over 500 levels deep", () => {
    expect(partialOf("[".repeat(500)).reader.status).toBe("open");
    expect(partialOf("[".repeat(501)).reader.status).toBe("broken");
  });

  it("accepts exactly what JSON.parse accepts, and keeps the digits of integers as parseJson does", () => {
    const almost = fc
      .tuple(written, fc.nat(), fc.constantFrom("", ",", "]", "}", '"', "0", " ", "\\", "e", ":"))
      .map(([text, place, char]) => {
        const index = place % (text.length + 1);
        return text.slice(0, index) + char + text.slice(char === "" ? index + 1 : index);
      });
    fc.assert(
      fc.property(almost, (text) => {
        let parsed: JsonValue | undefined;
        try {
          parsed = parseJson(text);
        } catch {
          parsed = undefined;
        }
        const reader = new PartialJson();
        const end = reader.push(text);
        reader.end();
        const accepted = reader.status === "complete" && text.slice(end).trim() === "";
        expect(accepted).toBe(parsed !== undefined);
        if (accepted) expect(same(reader.snapshot(), parsed)).toBe(true);
        if (accepted) expect(jsonText(reader.snapshot())).toBe(jsonText(parsed));
      }),
      { numRuns: 1_000 },
    );
  });

  it("stops behind the value, and says where", () => {
    const reader = new PartialJson();
    expect(reader.push('see [1, 2] and {"a": 3}', 4)).toBe(10);
    expect(reader.snapshot()).toEqual([1, 2]);
  });

  it("ends a number at the top when told that no more comes, and nothing else", () => {
    const number = new PartialJson();
    number.push("1");
    number.push("2");
    number.end();
    expect([number.status, number.snapshot()]).toEqual(["complete", 12]);
    const list = new PartialJson();
    list.push("[1");
    list.end();
    expect(list.status).toBe("broken");
  });

  it("takes work in proportion to the text, however small its pieces, and for a snapshot in proportion to what is open", () => {
    const texts = [
      JSON.stringify("x".repeat(20_000)),
      JSON.stringify(Array.from({ length: 5_000 }, (_, index) => ({ id: index, tags: ["a", "b"] }))),
      `${"[".repeat(400)}${"]".repeat(400)}`,
      `"${"\\u0041".repeat(3_000)}"`,
      `[${"1234567890".repeat(2_000)}]`,
    ];
    for (const text of texts) {
      const reader = new PartialJson();
      for (const char of text) reader.push(char);
      expect(reader.status).toBe("complete");
      expect(reader.work).toBeLessThanOrEqual(3 * text.length);
    }
    const reader = new PartialJson();
    reader.push(`{"done": ${texts[1]}, "open": [1, 2, {"a": 1, "b": [`);
    const before = reader.work;
    reader.snapshot();
    expect([reader.openMembers, reader.work - before]).toEqual([4, 4]);
  });

  it("shares what is finished between snapshots", () => {
    const reader = new PartialJson();
    reader.push('{"list": [{"a": 1}], "text": "');
    const first = reader.snapshot() as { readonly list: unknown };
    reader.push("more");
    const second = reader.snapshot() as { readonly list: unknown };
    expect(second).not.toBe(first);
    expect(second.list).toBe(first.list);
  });
});
