import { AgentError, type PermissionBehavior } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineTool } from "../../../tools/define-tool.ts";
import { checkRuleTools } from "./check-rule-tools.ts";
import { compilePolicy } from "./compiled-policy.ts";
import { decidePermission } from "../../features/permissions/decide-permission.ts";
import { compilePermissionRule } from "./permission-rule.ts";
import { rulesFromClaude } from "./rules-from-claude.ts";

const HOME = { home: "/home/ada" };
const patterns = (behavior: PermissionBehavior, ...rules: string[]) =>
  rulesFromClaude({ permissions: { [behavior]: rules } }, HOME).rules.map(({ pattern }) => pattern);
const why = (behavior: PermissionBehavior, rule: string, options = HOME) => {
  const { rules, untranslated } = rulesFromClaude({ permissions: { [behavior]: [rule] } }, options);
  return [rules.length, untranslated[0]?.rule, untranslated[0]?.behavior, untranslated[0]?.why];
};

describe("rulesFromClaude", () => {
  it("translates what settings say, and leaves alone what is not about permissions", () => {
    expect(
      rulesFromClaude({
        model: "opus",
        hooks: {},
        permissions: { allow: ["Bash(npm run test:*)", "Bash(ls)"], deny: ["Read(./.env)"], ask: ["WebFetch"], defaultMode: "acceptEdits" },
      }),
    ).toEqual({
      mode: "accept-edits",
      rules: [
        { pattern: "read_file(.env)", behavior: "deny" },
        { pattern: "read_file(.env/**)", behavior: "deny" },
        { pattern: "web_fetch", behavior: "ask" },
        { pattern: "bash(npm run test *)", behavior: "allow" },
        { pattern: "bash(ls)", behavior: "allow" },
      ],
      untranslated: [],
    });
    expect(rulesFromClaude({ model: "opus" })).toEqual({ rules: [], untranslated: [] });
  });

  it("knows the modes", () => {
    const modes = ["default", "acceptEdits", "plan", "bypassPermissions", "dontAsk"];
    expect(modes.map((defaultMode) => rulesFromClaude({ permissions: { defaultMode } }).mode)).toEqual([
      ...["default", "accept-edits", "plan-only", "bypass-all", "deny-unauthorized"],
    ]);
    expect(rulesFromClaude({ permissions: { defaultMode: "auto", additionalDirectories: ["../docs"] } })).toEqual({
      rules: [],
      untranslated: [
        { rule: "defaultMode: auto", why: expect.stringContaining("no such permission mode") },
        { rule: 'additionalDirectories: ["../docs"]', why: expect.stringContaining("no counterpart") },
      ],
    });
  });

  it("translates rules about commands, tools and hosts", () => {
    expect(patterns("allow", "Bash", "Bash(*)", "Bash(:*)", "Bash(git * main)", "Bash(npm:*)", "Bash(echo (a))")).toEqual([
      ...["bash", "bash", "bash", "bash(git * main)", "bash(npm *)", "bash(echo (a))"],
    ]);
    expect(patterns("allow", "mcp__git", "mcp__git__push", "mcp__git__*", "Grep", "Glob", "LS")).toEqual([
      ...["mcp__git__*", "mcp__git__push", "mcp__git__*", "grep", "glob", "list_directory"],
    ]);
    expect(patterns("allow", "WebFetch(domain:Example.com)", "WebFetch(domain:*.example.com)")).toEqual([
      ...["web_fetch(example.com)", "web_fetch(*.example.com)"],
    ]);
  });

  it("covers at least what a deny or ask rule about files covered, in any folder and in the folder that it may be", () => {
    expect(patterns("deny", "Read(.env)")).toEqual(["read_file(**/.env)", "read_file(**/.env/**)"]);
    expect(patterns("ask", "Edit(docs/**)")).toEqual(["edit_file(docs/**)"]);
    expect(patterns("deny", "Write(/src/*.ts)")).toEqual(["write_file(src/*.ts)", "write_file(src/*.ts/**)"]);
    expect(patterns("deny", "Read(~/.aws)")).toEqual([
      ...["read_file(/home/ada/.aws)", "read_file(/home/ada/.aws/**)", "read_file(~/.aws)", "read_file(~/.aws/**)"],
    ]);
    expect(patterns("deny", "Read(//etc/pass?d)")).toEqual(["read_file(/etc/pass*d)", "read_file(/etc/pass*d/**)"]);
    expect(patterns("deny", "Read(secrets/)")).toEqual(["read_file(**/secrets/**)"]);
    expect(patterns("deny", "Read", "Read(./*)", "Edit")).toEqual(["read_file(**)", "read_file(**)", "edit_file(**)"]);
  });

  it("covers at most what an allow rule about files covered", () => {
    expect(patterns("allow", "Edit(docs/**)", "Edit(notes.md)", "Edit(./src/a.ts)", "Read(//srv/data/**)")).toEqual([
      ...["edit_file(docs/**)", "edit_file(notes.md)", "edit_file(src/a.ts)", "read_file(/srv/data/**)"],
    ]);
    for (const rule of ["Edit(src/*.ts)", "Edit(src/?.ts)", "Edit(**/a.ts)", "Edit(./*)"])
      expect(why("allow", rule)).toEqual([0, rule, "allow", expect.stringMatching(/star here|outside of the working directory/)]);
  });

  it("says what it can't translate, and why", () => {
    expect(why("deny", "Read(~/x)", {} as never)).toEqual([0, "Read(~/x)", "deny", expect.stringContaining("give { home }")]);
    expect(why("deny", "Read(../x)")).toEqual([0, "Read(../x)", "deny", expect.stringContaining('no ".."')]);
    expect(why("deny", "WebSearch")).toEqual([0, "WebSearch", "deny", expect.stringContaining("no tool here that is what WebSearch is")]);
    expect(why("allow", "Grep(x)")[3]).toMatch(/all of its arguments/);
    expect(why("allow", "WebFetch(example.com)")[3]).toMatch(/domain:example\.com/);
  });

  it("makes rules that hold as they did: each with a call that it is about and one that it is not [MC-15]", () => {
    const judge = (settings: object, effects: { readonly reads?: readonly string[]; readonly writes?: readonly string[] }) => {
      const { mode = "default", rules } = rulesFromClaude({ permissions: settings }, HOME);
      const tool = { name: "edit_file", effect: "write", risk: "high" } as const;
      return decidePermission({ policies: [compilePolicy({ mode, rules })], tool, argumentText: "{}", effects, cwd: "/srv" }).behavior;
    };
    const deny = { deny: ["Read(./secrets)", "Edit(*.lock)"], defaultMode: "bypassPermissions" };
    expect(judge(deny, { reads: ["secrets/deep/a"] })).toBe("deny");
    expect(judge(deny, { reads: ["/srv/secrets"] })).toBe("deny");
    expect(judge(deny, { writes: ["sub/x.lock"] })).toBe("deny");
    expect(judge(deny, { reads: ["src/secrets"], writes: ["x.lock.md"] })).toBe("allow");
    const allow = { allow: ["Edit(docs/**)"] };
    expect([judge(allow, { writes: ["docs/a/b.md"] }), judge(allow, { writes: ["src/docs/a.md"] })]).toEqual(["allow", "ask"]);
  });

  it("translates into rules that compile, and that an agent with these tools takes", () => {
    const names = ["bash", "read_file", "edit_file", "write_file", "list_directory", "grep", "glob"];
    const tools = names.map((name) =>
      defineTool({ name, description: "A tool.", input: { type: "object" }, effectsOf: () => ({}), execute: () => "done" }),
    );
    const name = fc.constantFrom(..."Bash Read Edit Write MultiEdit WebFetch Grep LS Task mcp__a mcp__a__b * x".split(" "));
    const piece = fc.constantFrom(..."* ** ? / // . .. ./ ~/ .env src [a] ( ) \\ : :* ! { domain: a.b".split(" "), " ", "\n");
    const argument = fc.oneof(
      fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join("")),
      fc.string(),
    );
    const rule = fc.tuple(name, fc.option(argument)).map(([tool, text]) => (text === null ? tool : `${tool}(${text})`));
    const list = fc.array(rule, { maxLength: 4 });
    fc.assert(
      fc.property(fc.record({ allow: list, deny: list, ask: list }), fc.constantFrom(HOME, {}), (permissions, options) => {
        const { rules, untranslated } = rulesFromClaude({ permissions }, options);
        for (const translated of rules) compilePermissionRule(translated);
        checkRuleTools(rules, tools);
        const given = Object.values(permissions).flat().length;
        expect(untranslated.length).toBeLessThanOrEqual(given);
        expect(rules.length + untranslated.length).toBeGreaterThanOrEqual(given);
      }),
    );
  });

  it("refuses what are no such settings, and names the place", () => {
    const cases: readonly [unknown, string][] = [
      [undefined, "settings"],
      [[], "settings"],
      [{ permissions: [] }, "settings.permissions"],
      [{ permissions: { allow: "Bash" } }, "settings.permissions.allow"],
      [{ permissions: { deny: ["Bash", 5] } }, "settings.permissions.deny[1]"],
      [{ permissions: { ask: ["Bash(npm"] } }, "settings.permissions.ask[0]"],
      [{ permissions: { defaultMode: 1 } }, "settings.permissions.defaultMode"],
    ];
    for (const [settings, option] of cases) {
      let error: unknown;
      try {
        rulesFromClaude(settings);
      } catch (thrown) {
        error = thrown;
      }
      expect(AgentError.is(error, "invalid-option") && error.failure.option, option).toBe(option);
    }
    expect(() => rulesFromClaude({}, { home: "~" })).toThrow(/home must be an absolute path/);
  });
});
