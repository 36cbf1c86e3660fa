import type { CallEffects, CommandEffect } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { compilePolicy } from "../../definition/permissions/compiled-policy.ts";
import type { PermissionSubject } from "../../definition/permissions/judged-call.ts";
import { decidePermission } from "./decide-permission.ts";

const bash: PermissionSubject = { name: "bash", effect: "write", risk: "high", category: "shell" };
const edit: PermissionSubject = { name: "edit_file", effect: "write", risk: "medium", category: "edit" };
const pay: PermissionSubject = { name: "pay", effect: "write", risk: "high" };

type Rules = readonly (readonly ["allow" | "deny" | "ask", string])[];

function ask(tool: PermissionSubject, text: string, effects?: CallEffects, rules: Rules = [], untrusted: readonly string[] = []) {
  const policy = compilePolicy({ mode: "default", rules: rules.map(([behavior, pattern]) => ({ behavior, pattern })) });
  return decidePermission({ policies: [policy], tool, argumentText: text, effects, cwd: "/work", untrusted });
}

const summaryOf = (...given: Parameters<typeof ask>) => ask(...given).shown?.summary;
const line = (...commands: readonly (string | CommandEffect)[]): CallEffects => ({
  commands: commands.map((command) => (typeof command === "string" ? { text: command } : command)),
});

describe("the sentence of a question", () => {
  it("says which command is not allowed yet, or what it does", () => {
    expect(summaryOf(bash, "npm test", line("npm test"))).toBe("`npm test` is not allowed yet");
    expect(summaryOf(bash, "rm -rf build", { ...line("rm -rf build"), writes: ["/work/build"] })).toBe("`rm -rf build` deletes `build`");
    expect(summaryOf(bash, "mv a b", { ...line("mv a b"), writes: ["a", "b"] })).toBe("`mv a b` moves or replaces `a` and `b`");
    expect(summaryOf(bash, "curl x.test", { ...line("curl x.test"), hosts: ["x.test"] })).toBe("`curl x.test` connects to `x.test`");
    expect(summaryOf(bash, "cp a b", { ...line("cp a b"), writes: ["b"] })).toBe("`cp a b` writes `b`");
    expect(summaryOf(bash, "toString x", { ...line("toString x"), writes: ["b"] })).toBe("`toString x` writes `b`");
  });

  it("names several commands, and lists all of the line with the reason of each", () => {
    const asked = ask(bash, "npm ci && ls; npm test", line("npm ci", { text: "ls", readOnly: true }, "npm test"));
    expect(asked.shown).toEqual({
      summary: "`npm ci` and `npm test` are not allowed yet",
      parts: [{ text: "npm ci", why: "not allowed yet" }, { text: "ls" }, { text: "npm test", why: "not allowed yet" }],
    });
    const many = ["a", "b", "c", "d", "e"].map((name) => `${name} x`);
    expect(summaryOf(bash, many.join("; "), line(...many))).toBe("`a x`, `b x`, `c x` and 2 more are not allowed yet");
  });

  it("names the words that are not understood, and what keeps a rule from a command", () => {
    const rules: Rules = [["allow", "bash(npm test*)"]];
    const unlisted = { text: "npm test --x", unlisted: ["--x"] };
    expect(summaryOf(bash, "npm test --x", line(unlisted), rules)).toBe('`npm test --x` is not allowed: "--x" is not understood');
    const cautious = { text: "echo a", caution: "Its output goes into b." };
    expect(summaryOf(bash, "echo a > b", line(cautious))).toBe("`echo a` is not allowed: Its output goes into b");
    expect(summaryOf(bash, "$X", { unknown: ["The program is taken from $X."] })).toBe(
      "The effects of this line cannot be known before it runs: The program is taken from $X",
    );
  });

  it("says which file an edit changes, and that a tool is not allowed yet", () => {
    expect(summaryOf(edit, "src/a.ts", { writes: ["/work/src/a.ts"] })).toBe("`edit_file` changes `src/a.ts`");
    expect(summaryOf(pay, "{}")).toBe("`pay` is not allowed yet");
  });

  it("says that a file is sensitive", () => {
    expect(summaryOf(bash, "cat .env", { commands: [{ text: "cat .env", readOnly: true }], reads: ["/work/.env"] })).toBe(
      "`cat .env` reads `.env`, which holds secrets or steers later work",
    );
  });

  it("names the rule that asks, and text that may be behind the call", () => {
    expect(summaryOf(bash, "git push", line("git push"), [["ask", "bash(git push*)"]])).toBe(
      "`git push` is what the rule `bash(git push*)` asks about",
    );
    expect(summaryOf(bash, "npm test", line("npm test"), [], ["README.md"])).toContain('text from "README.md" may be what asks for it');
  });

  it("shortens a long command and holds none of the words of permissions", () => {
    const long = `echo ${"x".repeat(500)}`;
    const { shown, reason } = ask(bash, long, line(long));
    expect(shown?.summary.length).toBeLessThan(160);
    expect(shown?.summary).not.toMatch(/effect|risk|permission mode/);
    expect(reason).toMatch(/effect write, risk high/);
  });
});

describe("what *always* offers", () => {
  const offered = (...given: Parameters<typeof ask>) => ask(...given).always?.map(({ scope, rules }) => [scope, ...rules]);

  it("is this file, its folder and all edits of a tool that edits", () => {
    expect(offered(edit, "src/lib/a.ts", { writes: ["/work/src/lib/a.ts"] })).toEqual([
      ["exact", "edit_file(src/lib/a.ts)"],
      ["folder", "edit_file(src/lib/**)"],
      ["edits", "edit_file(**)"],
    ]);
    expect(offered(edit, "a.ts", { writes: ["/work/a.ts"] })).toEqual([
      ["exact", "edit_file(a.ts)"],
      ["edits", "edit_file(**)"],
    ]);
  });

  it("lets edits of any tool run from then on, but for sensitive files", () => {
    const write: PermissionSubject = { ...edit, name: "write_file" };
    const rules: Rules = [["allow", "edit_file(src/**)"]];
    expect(ask(write, "src/b.ts", { writes: ["/work/src/b.ts"] }, rules).behavior).toBe("allow");
    expect(ask(write, "b.ts", { writes: ["/work/b.ts"] }, rules).behavior).toBe("ask");
    expect(ask(write, "b.ts", { writes: ["/work/b.ts"] }, [["allow", "edit_file(**)"]]).behavior).toBe("allow");
    expect(ask(write, "AGENTS.md", { writes: ["/work/AGENTS.md"] }, [["allow", "edit_file(**)"]]).behavior).toBe("ask");
  });

  it("is this line, then program and subcommand of a shell, and never every line", () => {
    expect(offered(bash, "npm test", line("npm test"))?.map(([scope]) => scope)).toEqual(["exact", "command"]);
    expect(offered(pay, "{}")?.map(([scope]) => scope)).toEqual(["exact", "tool"]);
  });
});
