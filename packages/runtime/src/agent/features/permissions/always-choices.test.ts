import type { AlwaysChoice, CallEffects, PermissionRule } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compilePolicy } from "../../definition/permissions/compiled-policy.ts";
import { decidePermission } from "./decide-permission.ts";
import { grantsFor } from "../../definition/permissions/granted-rules.ts";
import type { PermissionSubject } from "../../definition/permissions/judged-call.ts";

const bash: PermissionSubject = { name: "bash", effect: "write", risk: "high" };
const deploy: PermissionSubject = { name: "deploy", effect: "write", risk: "high" };
const ask = (
  argumentText: string,
  effects: CallEffects | undefined,
  { rules = [] as PermissionRule[], tool = bash, granted = [] as readonly string[] } = {},
) =>
  decidePermission({
    policies: [compilePolicy({ mode: "default", rules })],
    tool,
    argumentText,
    effects,
    cwd: "/work",
    grants: grantsFor(new Set(granted), tool.name),
  });
const offered = (...given: Parameters<typeof ask>) => ask(...given).always?.map(({ scope, rules }) => [scope, ...rules]);
const commands = (...texts: string[]): CallEffects => ({ commands: texts.map((text) => ({ text })) });

describe("what *always* can allow", () => {
  it("is this line, then program and subcommand of each part that asks, then the tool [AV-02]", () => {
    expect(offered("npm test && ls", { commands: [{ text: "npm test" }, { text: "ls", readOnly: true }] })).toEqual([
      ["exact", "bash(npm test && ls)"],
      ["command", "bash(npm test **)"],
      ["tool", "bash"],
    ]);
    expect(offered("echo hello; rm -rf build; git push -f", commands("echo hello", "rm -rf build", "git push -f"))?.[1]).toEqual([
      "command",
      "bash(echo **)",
      "bash(rm **)",
      "bash(git push **)",
    ]);
    const families = ["npm run build", "npx vitest run", "git -C x push", "docker compose up", "node a.mjs 1", "make", "tsc --build"].map(
      (text) => offered(text, commands(text))?.[1]?.[1],
    );
    expect(families).toEqual([
      "bash(npm run build **)",
      "bash(npx vitest **)",
      "bash(git **)",
      "bash(docker compose up **)",
      "bash(node a.mjs **)",
      "bash(make **)",
      "bash(tsc **)",
    ]);
  });

  it("is nothing where a rule of any policy asks, whichever of several policies it is [MC-15]", () => {
    const asking = compilePolicy({ mode: "default", rules: [{ pattern: "deploy", behavior: "ask" }] });
    const open = compilePolicy({ mode: "default", rules: [] });
    const always = (...policies: (typeof open)[]) =>
      decidePermission({ policies, tool: deploy, argumentText: "{}", effects: undefined, cwd: "/srv" });
    expect(always(open)).toMatchObject({ behavior: "ask", always: expect.any(Array) });
    for (const decision of [always(asking, open), always(open, asking)]) {
      expect(decision.behavior).toBe("ask");
      expect(decision.always).toBeUndefined();
    }
  });

  it("is this line or the tool where a part is not what it says, and this line alone where nothing else would let it run", () => {
    expect(offered("$X", { commands: [], unknown: ["The program is taken from $X."] })?.map(([scope]) => scope)).toEqual(["exact", "tool"]);
    expect(offered("cat .env", { commands: [{ text: "cat .env", readOnly: true }], reads: [".env"] })).toEqual([
      ["exact", "bash(cat .env)"],
    ]);
    const rules: PermissionRule[] = [{ pattern: "bash(evil*)", behavior: "deny" }];
    expect(offered("$X", { commands: [], unknown: ["The program is taken from $X."] }, { rules })).toEqual([["exact", "bash($X)"]]);
  });

  it("is nothing where a rule asks: no grant covers what a rule names [AV-02]", () => {
    expect(ask("git push", commands("git push"), { rules: [{ pattern: "bash(git push*)", behavior: "ask" }] })).toEqual({
      behavior: "ask",
      rule: { pattern: "bash(git push*)", behavior: "ask" },
      reason: expect.any(String),
      shown: { summary: "`git push` is what the rule `bash(git push*)` asks about" },
    });
  });

  it("is these arguments or the tool for a tool that says nothing of its calls", () => {
    expect(offered('{"to":"prod"}', undefined, { tool: deploy })).toEqual([
      ["exact", 'deploy({"to":"prod"})'],
      ["tool", "deploy"],
    ]);
  });

  it("lets the call run that was asked about, whatever stands in it; the narrowest choice lets no other run", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "*", "\\", "(", ")", " ", "rm", ";", "\n"), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(word, word, fc.boolean(), (line, other, known) => {
        const effects = (text: string): CallEffects => (known ? commands(text) : { unknown: ["?"] });
        for (const { rules } of ask(line, effects(line)).always as readonly AlwaysChoice[])
          expect(ask(line, effects(line), { granted: rules }).behavior).toBe("allow");
        const granted = ask(line, effects(line)).always?.[0]?.rules ?? [];
        expect(ask(other, effects(other), { granted }).behavior).toBe(other === line ? "allow" : "ask");
      }),
    );
  });
});

describe("a grant", () => {
  it("is no word of the policy about other calls of the tool, nor about other sessions", () => {
    const policies = [compilePolicy({ mode: "default", rules: [] })];
    const judge = (argumentText: string, granted: readonly string[] = []) =>
      decidePermission({ policies, tool: deploy, argumentText, grants: grantsFor(new Set(granted), "deploy") }).behavior;
    expect(judge('{"n":1}', ['deploy({"n":1})'])).toBe("allow");
    expect(judge('{"n":2}', ['deploy({"n":1})'])).toBe("ask");
    expect(judge('{"n":1}')).toBe("ask");
  });

  it("covers a part, and rules the rest", () => {
    const rules: PermissionRule[] = [{ pattern: "bash(npm test*)", behavior: "allow" }];
    const effects = commands("npm test", "git push");
    expect(ask("x", effects, { rules }).behavior).toBe("ask");
    expect(ask("x", effects, { rules, granted: ["bash(git push **)"] }).behavior).toBe("allow");
    expect(ask("x", effects, { granted: ["bash(git push **)"] }).behavior).toBe("ask");
  });

  it("covers nothing that a deny or ask rule names, and opens no mode that doesn't ask [MC-15]", () => {
    const granted = ["bash", "bash(rm x)"];
    for (const behavior of ["deny", "ask"] as const)
      expect(ask("rm x", commands("rm x"), { rules: [{ pattern: "bash(rm*)", behavior }], granted }).behavior).toBe(behavior);
    for (const mode of ["plan-only", "deny-unauthorized"] as const) {
      const policies = [compilePolicy({ mode, rules: [] })];
      expect(
        decidePermission({
          policies,
          tool: bash,
          argumentText: "rm x",
          effects: commands("rm x"),
          grants: grantsFor(new Set(granted), "bash"),
        }).behavior,
      ).toBe("deny");
    }
  });
});
