import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileGlob } from "./glob-pattern.ts";

describe("a glob pattern", () => {
  it.each([
    ["*.ts", "a.ts", true],
    ["*.ts", "src/a.ts", false],
    ["*.ts", ".hidden.ts", true],
    ["**/*.ts", "a.ts", true],
    ["**/*.ts", "src/deep/a.ts", true],
    ["src/**", "src/a/b", true],
    ["src/**", "src", false],
    ["src/**/b", "src/b", true],
    ["src/**/b", "src/x/y/b", true],
    ["**/a/**/b", "a/a/x/b", true],
    ["**/a/**/b", "x/b/a", false],
    ["a?c", "abc", true],
    ["a?c", "a/c", false],
    ["[a-c]x", "bx", true],
    ["[!a-c]x", "bx", false],
    ["[!a-c]x", "dx", true],
    ["[]]", "]", true],
    ["a[b", "a[b", true],
    ["{a,b}/c", "b/c", true],
    ["{a,b{1,2}}.md", "b2.md", true],
    ["{a}.md", "{a}.md", true],
    ["\\*.md", "*.md", true],
    ["\\*.md", "a.md", false],
    ["./src/*.ts", "src/a.ts", true],
    ["a*b*c", "aXbYbZc", true],
    ["?", "😀", true],
    ["**", "any/thing", true],
  ])("%s against %s is %s", (pattern, path, expected) => {
    expect(compileGlob(pattern).matches(path)).toBe(expected);
  });

  it("matches every path that is its own escaped text", () => {
    const name = fc.string({ minLength: 1 }).filter((text) => !text.includes("/") && text !== "." && text !== "**");
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names) => {
        const path = names.join("/");
        expect(compileGlob(path.replace(/[\\*?[\]{},!^-]/g, "\\$&")).matches(path)).toBe(true);
      }),
    );
  });

  it("never prunes a folder below which something matches", () => {
    const piece = fc.constantFrom("a", "b", "*", "**", "?", "a*", "{a,b}", "[ab]");
    const name = fc.constantFrom("a", "b", "ab", "c");
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 4 }), fc.array(name, { minLength: 2, maxLength: 5 }), (pieces, names) => {
        const glob = compileGlob(pieces.join("/"));
        if (!glob.matches(names.join("/"))) return;
        for (let depth = 0; depth < names.length; depth++) expect(glob.mayMatchBelow(names.slice(0, depth).join("/"))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("prunes what cannot match", () => {
    expect(compileGlob("src/*.ts").mayMatchBelow("docs")).toBe(false);
    expect(compileGlob("src/*.ts").mayMatchBelow("src/deep")).toBe(false);
  });

  it("answers hostile patterns in time proportional to their size", () => {
    // Exponential matching would not end within the lifetime of the test run.
    expect(compileGlob(`${"*a".repeat(60)}b`).matches("a".repeat(4000))).toBe(false);
    expect(compileGlob(`${"**/a/".repeat(40)}b`).matches("a/".repeat(400) + "c")).toBe(false);
  });

  it("refuses a pattern that would be thousands of patterns", () => {
    expect(() => compileGlob("{a,b}".repeat(20))).toThrow(/alternatives/);
  });
});
