import { expect, it } from "vitest";
import { literalPattern, starPattern } from "./star-patterns.ts";

it("a literal pattern escapes the stars and backslashes of its text", () => {
  expect(literalPattern("a*b\\c?")).toBe("a\\*b\\\\c?");
});

it.each([
  ["src/*.ts", "src/*.ts"],
  ["a??[xy]", "a**"],
  ["@(a|b).{c,d}", "*.*"],
  ["plain", "plain"],
])("a star pattern has a star for each wildcard of the shell: %s", (text, pattern) => {
  expect(starPattern(text)).toBe(pattern);
});
