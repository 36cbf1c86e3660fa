import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nameMatcher } from "./name-matcher.ts";

describe("a segment of a pattern", () => {
  it.each([
    ["*.ts", ["a.ts", ".ts"], ["a.ts"]],
    ["old-*", ["old-secret", "older"], ["old-secret"]],
    ["a?c", ["abc", "a😀c", "ac"], ["abc", "a😀c"]],
    ["[ab]*", ["a", "z", ".a"], ["a", "z"]],
    [".e*", [".env", "env"], [".env"]],
    ["*(x)", ["a", ".b"], ["a"]],
    ["a\\*", ["a*", "ab"], ["a*"]],
    ["A*", ["abc"], ["abc"]],
  ])("%s finds at least the names that bash finds", (segment, names, found) => {
    expect(names.filter(nameMatcher(segment))).toEqual(found);
  });

  it("is read whatever characters it has, and finds itself without wildcards", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(nameMatcher(text, true)("name")).toBeTypeOf("boolean");
        if (!/[\\*?[@+!(]/.test(text)) expect(nameMatcher(text, true)(text)).toBe(true);
      }),
    );
  });
});
