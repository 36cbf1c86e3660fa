import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseArguments } from "./parse-arguments.ts";

describe("the arguments of a tool call", () => {
  it("are the JSON they are, without repair", async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (value) => {
        const text = JSON.stringify(value);
        expect(await parseArguments(text)).toStrictEqual({ ok: true, value: JSON.parse(text), repaired: false });
      }),
    );
  });

  it.each(["", " \n\t", "null", " null "])("are empty when nothing was sent: %j", async (text) => {
    expect(await parseArguments(text)).toStrictEqual({ ok: true, value: {}, repaired: false });
  });

  it.each([
    ["a fence", '```json\n{"a": 1}\n```', { a: 1 }],
    ["a fence around a slip", "```\n{'a': 1,}\n```", { a: 1 }],
    ["single quotes", "{'a': 'it is'}", { a: "it is" }],
    ["bare keys", "{a: 1, b_2: true}", { a: 1, b_2: true }],
    ["a trailing comma", '{"a": [1, 2,],}', { a: [1, 2] }],
    ["a missing comma", '{"a": 1 "b": 2}', { a: 1, b: 2 }],
    ["a missing comma between lines", '{"a": "x"\n"b": "y"}', { a: "x", b: "y" }],
    ["a raw line break in a string", '{"a": "one\ntwo\tthree"}', { a: "one\ntwo\tthree" }],
    ["a bad escape", String.raw`{"pattern": "\d+\.ts"}`, { pattern: String.raw`\d+\.ts` }],
    [
      "a bad escape among good ones",
      String.raw`{"path": "C:\Users\me", "text": "a\nb\u00e9"}`,
      { path: String.raw`C:\Users\me`, text: "a\nbé" },
    ],
    ["words of Python", "{'a': True, 'b': None}", { a: true, b: null }],
    ["comments", '{"a": 1, // don\'t\n "b": 2 /* { */}', { a: 1, b: 2 }],
    ["an empty object before it", '{}{"a": 1}', { a: 1 }],
    ["a copy of it", '{"a": 1, "b": "}"}{"b":"}","a":1}', { a: 1, b: "}" }],
    ["an empty object before two copies of it", '{ }\n{"a": 1}\n{"a": 1}', { a: 1 }],
    ["brackets that close nothing", '{"a": [1]}}]', { a: [1] }],
    ["closing markup", '{"a": "</tool_call>"}\n</tool_call>', { a: "</tool_call>" }],
    ["the closing markup of Kimi", '{"a": 1}<|tool_call_end|><|tool_calls_section_end|>', { a: 1 }],
    ["a slip with a bracket that closes nothing", "{'a': 1,}}", { a: 1 }],
    ["a byte order mark", '\ufeff{"a": 1}', { a: 1 }],
  ])("are repaired of %s [2.10]", async (_, text, value) => {
    expect(await parseArguments(text)).toStrictEqual({ ok: true, value, repaired: true });
  });

  it.each([
    '{"path": "a.ts", "content": "export const',
    '{"path": "a.ts", "content": "x"',
    '{"path": "a.ts", "con',
    '{"path": "a.ts",',
    '{"path": ',
    '{"list": [1, 2',
    '{"list": [1, 2]',
    "{",
    '{"a": "ends in an escape\\',
    '```json\n{"a": 1',
    "{'a': 'x",
    '{"a": 1} // cut',
    '{"a": 1 /* cut',
  ])("are never completed when they look cut off: %j [2.10]", async (text) => {
    expect(await parseArguments(text)).toMatchObject({ ok: false, reason: "truncated", message: expect.stringMatching(/cut off/) });
  });

  it("are never accepted when any part of the end is missing [2.10]", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }),
        fc.nat(),
        fc.integer({ min: 0, max: 2 }),
        async (value, cut, indent) => {
          const text = JSON.stringify(value, undefined, indent);
          const part = text.slice(0, 1 + (cut % (text.length - 1)));
          const parsed = await parseArguments(part);
          expect(parsed).toMatchObject({ ok: false, reason: "truncated" });
        },
      ),
    );
  });

  it.each([
    ['{"a": }', /missing after ":"/],
    ['{"a": , "b": 1}', /missing after ":"/],
    ['{"items": [1, 2, ...]}', /left out/],
    ['{"command": "echo "hi" there"}', /not escaped/],
    ['{"a": [1}, 2]', /closes nothing/],
    ['{"a": 1} {"b": 2}', /more than one value/],
    ['{"a": 1} and {"a": 1}', /stands behind the object/],
    ['{"a": 1}, "b": 2}', /stands behind the object/],
    ['{"a": 1} {}', /more than one value/],
    ['{"a": 1}{}{"b": 2}', /more than one value/],
    ['{"a": 1}<tool_call>', /stands behind the object/],
    ['{"a": 1}</tool_call> and more', /stands behind the object/],
    ['{"a": 1} /* why */', /stands behind the object/],
    ['{"id": 1917043659912705296}{"id": 1917043659912705300}', /more than one value/],
    ["read the file", /not valid JSON/],
    ["<parameter>a</parameter>", /not valid JSON/],
  ])("are refused rather than guessed: %j", async (text, message) => {
    expect(await parseArguments(text)).toMatchObject({ ok: false, reason: "invalid", message: expect.stringMatching(message) });
  });

  it("are not the first object if a second one is cut off", async () => {
    for (const text of ['{}{"a": 1', '{"a": 1}{"a"']) expect(await parseArguments(text)).toMatchObject({ ok: false, reason: "truncated" });
  });

  it("of absurd depth are refused, whether they parse or not", async () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    expect(await parseArguments(deep)).toMatchObject({ ok: false, reason: "invalid", message: expect.stringMatching(/nested deeper/) });
    expect(await parseArguments(`${deep},`)).toMatchObject({ ok: false, reason: "invalid" });
  });

  it("give a result for any text, never a rejection", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom("{", "}", "[", "]", '"', "'", ":", ",", "a", "\\", "/", "*", "\n", " ", "1", "`", ".") }),
        async (text) => {
          expect(typeof (await parseArguments(text)).ok).toBe("boolean");
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
