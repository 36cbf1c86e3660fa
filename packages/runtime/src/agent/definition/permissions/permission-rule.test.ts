import { AgentError, type PermissionBehavior } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileGlob, matchesGlob } from "./glob.ts";
import { compareSpecificity, compilePermissionRule } from "./permission-rule.ts";

const rule = (pattern: string, behavior: PermissionBehavior = "allow") => compilePermissionRule({ pattern, behavior });
const matches = (pattern: string, text: string) => matchesGlob(compileGlob(pattern), text);

describe("a glob", () => {
  it("matches by its literals, with `*` for any characters, slashes and line ends included [MC-10]", () => {
    expect(matches("read_file", "read_file")).toBe(true);
    expect(matches("read_file", "read_files")).toBe(false);
    expect(matches("mcp__*", "mcp__git__push")).toBe(true);
    expect(matches("src/*", "src/a/b\nc")).toBe(true);
    expect(matches("*.ts", "a.ts.map")).toBe(false);
    expect(matches("a*b*c", "a-b-b-c")).toBe(true);
    expect(matches("ab*ba", "aba")).toBe(false);
    expect(matches("a*b*b", "ab")).toBe(false);
    expect(matches("**", "")).toBe(true);
  });

  it("takes `\\*` for a star and `\\\\` for a backslash, and any other backslash as it stands", () => {
    expect(matches("a\\*", "a*")).toBe(true);
    expect(matches("a\\*", "ab")).toBe(false);
    expect(matches("a\\\\*", "a\\b")).toBe(true);
    expect(matches("\\d*", "\\d1")).toBe(true);
  });

  it("agrees with the regular expression that says the same", () => {
    const piece = fc.constantFrom("a", "b", "/", "\n", "(", ".");
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.constant("*"))), fc.array(piece), (pattern, text) => {
        const expression = new RegExp(`^${pattern.map((part) => (part === "*" ? "[^]*" : part.replace(/[.(/]/g, "\\$&"))).join("")}$`);
        expect(matches(pattern.join(""), text.join(""))).toBe(expression.test(text.join("")));
      }),
    );
  });

  it("matches in linear time where a backtracking matcher would hang", () => {
    expect(matches(`${"a*".repeat(2_000)}b`, "a".repeat(200_000))).toBe(false);
  });
});

describe("a permission rule", () => {
  it("is refused with its own text and what is wrong with it [MC-10]", () => {
    const problem = (pattern: string) => {
      try {
        rule(pattern);
      } catch (error) {
        if (AgentError.is(error, "invalid-option")) return error.message;
        throw error;
      }
      return "accepted";
    };
    expect(problem("")).toMatch(/^permissions\.rules: the permission rule "" must be { pattern, behavior }/);
    expect(problem("bash(npm")).toMatch(/"bash\(npm" has a "\(" without a "\)"/);
    expect(problem("bash)")).toMatch(/has a "\)" without a "\("/);
    expect(problem("(npm)")).toMatch(/names no tool/);
    expect(problem("bash()")).toMatch(/nothing between its parentheses; "bash" alone/);
    expect(problem("bash(a) b")).toMatch(/goes on after its "\)" with " b"/);
    expect(problem("bash (a)")).toMatch(/white space in the name/);
    expect(() => compilePermissionRule({ pattern: "bash", behavior: "maybe" as PermissionBehavior })).toThrow(
      /unknown behavior "maybe": it must be allow, deny or ask/,
    );
  });

  it("may hold parentheses inside its argument pattern", () => {
    const { argument } = rule("search(f(*))");
    expect(argument && matchesGlob(argument, "f(x)")).toBe(true);
  });

  it("ranks fewer wildcards first, then the longer literal prefix [MC-15]", () => {
    const ranked = [rule("*"), rule("bash(npm*)"), rule("*(a*)"), rule("bash"), rule("bash(npm test*)")]
      .sort(compareSpecificity)
      .map(({ rule: { pattern } }) => pattern);
    expect(ranked).toEqual(["bash", "bash(npm test*)", "bash(npm*)", "*", "*(a*)"]);
  });
});
