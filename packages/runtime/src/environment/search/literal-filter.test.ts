import fc from "fast-check";
import { expect, it } from "vitest";
import { compileTextSearch } from "./text-search.ts";

const isIn = (pattern: string, text: string, caseInsensitive = false): boolean | undefined =>
  compileTextSearch(pattern, { caseInsensitive }).literals?.isIn(Buffer.from(text));

it("knows the fixed texts of a pattern, of which a match holds one", () => {
  expect(isIn("needle", "a needle")).toBe(true);
  expect(isIn("needle", "a Needle")).toBe(false);
  expect(isIn("TODO|FIXME", "// FIXME")).toBe(true);
  expect(isIn("TODO|FIXME", "// done")).toBe(false);
  expect(isIn("\\w+(Foo|Bar)\\b", "getBar")).toBe(true);
  expect(isIn("\\w+(Foo|Bar)\\b", "get")).toBe(false);
  expect(isIn("(a|\\d)", "x")).toBeUndefined();
  expect(isIn("(foo)?", "x")).toBeUndefined();
});

it("knows both cases of a letter, with those of Unicode that are not ASCII", () => {
  expect(isIn("kiss", "KISS", true)).toBe(true);
  expect(isIn("kiss", "\u212ai\u017fS", true)).toBe(true);
  expect(isIn("kiss", "kin", true)).toBe(false);
  expect(isIn("é", "É", true)).toBeUndefined();
});

it("never leaves out a text that matches", () => {
  const word = fc.constantFrom("foo", "Foo", "k", "s", "\u212a", "ſ", "é", "É", "bar_1", "(", "");
  const pattern = fc
    .array(
      fc.oneof(
        word.map((text) => text.replace(/[(]/g, "\\$&")),
        fc.constantFrom("(foo|k)", "(?:bar|é)+", "\\w", "[a-f]", "x?"),
      ),
      { maxLength: 4 },
    )
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(pattern, fc.array(word, { maxLength: 6 }), fc.boolean(), (expression, words, caseInsensitive) => {
      const { literals, search } = compileTextSearch(expression, { caseInsensitive });
      const bytes = Buffer.from(words.join(""));
      const window = { bytes, encoding: "utf-8", linesBefore: 0, from: 0, to: Number.POSITIVE_INFINITY } as const;
      if (search("a.txt", window).length > 0) expect(literals?.isIn(bytes)).not.toBe(false);
    }),
    { numRuns: 500 },
  );
});
