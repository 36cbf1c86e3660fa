import fc from "fast-check";
import { expect, it } from "vitest";
import { compileTextSearch } from "./text-search.ts";

const isIn = (pattern: string, text: string, caseInsensitive = false): boolean | undefined =>
  compileTextSearch(pattern, { caseInsensitive }).filter?.isIn(Buffer.from(text));

it("knows the fixed texts of a pattern, of which a match holds one", () => {
  expect(isIn("needle", "a needle")).toBe(true);
  expect(isIn("needle", "a Needle")).toBe(false);
  expect(isIn("TODO|FIXME", "// FIXME")).toBe(true);
  expect(isIn("TODO|FIXME", "// done")).toBe(false);
  expect(isIn("\\w+(Foo|Bar)\\b", "getBar")).toBe(true);
  expect(isIn("\\w+(Foo|Bar)\\b", "get")).toBe(false);
  expect(isIn("(a|\\d)", "x")).toBeUndefined();
  expect(isIn("x?|foo", "x")).toBeUndefined();
  expect(isIn("(foo)?", "x")).toBeUndefined();
});

it("knows both cases of a letter, with those of Unicode that are not ASCII", () => {
  expect(isIn("kiss", "KISS", true)).toBe(true);
  expect(isIn("kiss", "\u212ai\u017fS", true)).toBe(true);
  expect(isIn("kiss", "kin", true)).toBe(false);
  expect(isIn("é", "É", true)).toBe(true);
});

it("knows the sets of characters that follow each other in every match", () => {
  expect(isIn("[0-9]{5}", "1234 5")).toBe(false);
  expect(isIn("[0-9]{5}", "a12345")).toBe(true);
  expect(isIn("\\w+\\s*=\\s+\\d", "a=x 1")).toBe(false);
  expect(isIn("\\w+\\s*=\\s+\\d", "é =  1")).toBe(true);
  expect(isIn("^[a-c]\\b[日x]", "b日")).toBe(true);
  expect(isIn("([a-c]{2}){2}z", "abcz")).toBe(false);
  expect(isIn("[A-C]z", "bZ", true)).toBe(true);
});

it("takes no longer over a text that goes on and on", () => {
  const { filter } = compileTextSearch("[^x]{16}y", {});
  expect(filter?.isIn(Buffer.from("日".repeat(200_000)))).toBe(false);
});

it("never leaves out a text that matches", () => {
  const word = fc.constantFrom("foo", "Foo", "k", "s", "\u212a", "ſ", "é", "É", "bar_1", "(", "");
  const pattern = fc
    .array(
      fc.oneof(
        word.map((text) => text.replace(/[(]/g, "\\$&")),
        fc.constantFrom("(foo|k)", "(?:bar|é)+", "\\w", "[a-f]", "x?", "[k-s]{2}", "\\W+", "([a-z]o)+", "\\b", "[^a]{3,}"),
      ),
      { maxLength: 4 },
    )
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(pattern, fc.array(word, { maxLength: 6 }), fc.boolean(), (expression, words, caseInsensitive) => {
      const { filter, search } = compileTextSearch(expression, { caseInsensitive });
      const bytes = Buffer.from(words.join(""));
      const window = { bytes, encoding: "utf-8", linesBefore: 0, from: 0, to: Number.POSITIVE_INFINITY } as const;
      if (search("a.txt", window).length > 0) expect(filter?.isIn(bytes)).not.toBe(false);
    }),
    { numRuns: 2000 },
  );
});
