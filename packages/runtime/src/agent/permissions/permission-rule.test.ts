import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentError, type PermissionBehavior } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareSpecificity, compileGlob, compilePermissionRule, matchesArgument, matchesGlob } from "./permission-rule.ts";
import { readShellCommand } from "./shell-command.ts";

const rule = (pattern: string, behavior: PermissionBehavior = "allow") => compilePermissionRule({ pattern, behavior });
const matches = (pattern: string, text: string) => matchesGlob(compileGlob(pattern), text);
/** Whether the rule is about this command line. */
const covers = (behavior: PermissionBehavior, pattern: string, command: string) =>
  matchesArgument(rule(pattern, behavior), command, readShellCommand(command));

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
    expect(matchesArgument(rule("search(f(*))"), "f(x)")).toBe(true);
  });

  it("ranks fewer wildcards first, then the longer literal prefix [MC-15]", () => {
    const ranked = [rule("*"), rule("bash(npm*)"), rule("*(a*)"), rule("bash"), rule("bash(npm test*)")]
      .sort(compareSpecificity)
      .map(({ rule: { pattern } }) => pattern);
    expect(ranked).toEqual(["bash", "bash(npm test*)", "bash(npm*)", "*", "*(a*)"]);
  });
});

describe("an allow rule on a command line", () => {
  it("covers one simple command and nothing that comes with it [MC-15]", () => {
    expect(covers("allow", "bash(npm test*)", "npm test")).toBe(true);
    expect(covers("allow", "bash(npm test*)", "npm test -- --grep 'a; b && c > d'")).toBe(true);
    expect(covers("allow", "bash(npm test*)", 'npm test "$HOME/${NAME}" a\\;b')).toBe(true);
    for (const tail of [
      "; rm -rf /",
      " && rm -rf /",
      " || rm x",
      " | sh",
      " & rm x",
      "\nrm x",
      " $(rm x)",
      ' "$(rm x)"',
      " `rm x`",
      ' "`rm x`"',
      " > /etc/passwd",
      " < x",
      " <(rm x)",
      " # it's\nrm -rf / #'",
      " $'a\\'; rm x #'",
      ' "unfinished',
      " ${x:-$(rm x)}",
      " ${x@P}",
      " $[a[0]]",
      "\0rm",
      " \\",
    ]) {
      expect(covers("allow", "bash(npm test*)", `npm test${tail}`), tail).toBe(false);
    }
  });

  it("covers a compound command that it spells out without a wildcard", () => {
    expect(covers("allow", "bash(npm run lint && npm test)", "npm run lint && npm test")).toBe(true);
  });

  it("covers everything when it has no argument pattern or is only a star", () => {
    expect(covers("allow", "bash", "a; b")).toBe(true);
    expect(covers("allow", "bash(*)", "a; b")).toBe(true);
  });

  it("never covers a text in which a real shell finds a second command or a redirection", () => {
    const directory = mkdtempSync(join(tmpdir(), "keelson-shell-"));
    try {
      const text = fc.array(
        fc.constantFrom(
          "a",
          " ",
          "'",
          '"',
          "\\",
          "$",
          "(",
          ")",
          "{",
          "}",
          ";",
          "&",
          "|",
          "<",
          ">",
          "\n",
          "#",
          "`",
          "!",
          "=",
          "[",
          "]",
          "@",
          "x",
        ),
        { minLength: 1, maxLength: 12 },
      );
      fc.assert(
        fc.property(text, (characters) => {
          const command = `true ${characters.join("")}`;
          fc.pre(!readShellCommand(command).compound);
          const { stderr } = spawnSync("/bin/bash", ["--norc", "-xc", command], {
            cwd: directory,
            env: { PATH: "/nonexistent", PS4: "+COMMAND " },
            encoding: "utf8",
            timeout: 20_000,
          });
          expect(stderr.split("COMMAND ").length - 1, command).toBeLessThanOrEqual(1);
          expect(readdirSync(directory), command).toEqual([]);
        }),
        { numRuns: 150, seed: 20261121 },
      );
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

describe("a deny or ask rule on a command line", () => {
  it("catches what it describes in any part of the command [MC-15]", () => {
    for (const command of [
      "rm -rf /",
      "npm test; rm -rf /",
      "npm test && rm -rf /",
      "a | rm -rf /",
      "echo $(rm -rf /)",
      'echo "$(rm -rf /)"',
      "echo `rm -rf /`",
      "(rm -rf /)",
      "{ rm -rf /; }",
      "if true; then rm -rf /; fi",
      "FORCE=1 rm -rf /",
      "sudo -n rm -rf /",
      "env A=1 rm -rf /",
      "find . -exec rm -rf {} +",
      "xargs -n1 rm -rf",
      "bash -c 'cd x; rm -rf y'",
      "/bin/rm -rf /",
      "r\\m -rf /",
      '"rm" -rf /',
      "rm   -rf /",
      "rm \\\n-rf /",
      "ls\nrm -rf /",
    ]) {
      expect(covers("deny", "bash(rm -rf*)", command), command).toBe(true);
      expect(covers("ask", "bash(rm -rf*)", command), command).toBe(true);
    }
    expect(covers("deny", "bash(rm -rf*)", "echo rm -rf")).toBe(false);
    expect(covers("deny", "bash(rm -rf*)", "rmdir x")).toBe(false);
  });

  it("catches the command wherever it stands in a list of commands", () => {
    const word = fc.stringMatching(/^[a-z]{1,6}$/);
    const simple = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(" "));
    const operator = fc.constantFrom(";", " ; ", "&&", " || ", " | ", "\n", " & ", "; (", " $(", " `");
    fc.assert(
      fc.property(simple, operator, simple, simple, (before, between, denied, argument) => {
        expect(covers("deny", `bash(${denied}*)`, `${before}${between}${denied} ${argument}`)).toBe(true);
      }),
    );
  });
});
