import {
  compareRisk,
  PERMISSION_MODES,
  type CallEffects,
  RISK_LEVELS,
  type PermissionBehavior,
  type PermissionMode,
  type PermissionPolicy,
  type PermissionRule,
} from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compilePolicy } from "../../definition/permissions/compiled-policy.ts";
import { decidePermission } from "./decide-permission.ts";
import type { PermissionSubject } from "../../definition/permissions/judged-call.ts";

const read: PermissionSubject = { name: "read_file", effect: "read", risk: "none" };
const edit: PermissionSubject = { name: "edit_file", effect: "write", risk: "medium", category: "edit" };
const bash: PermissionSubject = { name: "bash", effect: "write", risk: "high", category: "shell" };
const deploy: PermissionSubject = { name: "deploy", effect: "idempotent", risk: "medium" };

const rules = (...lines: string[]): PermissionRule[] =>
  lines.map((line) => {
    const [behavior, ...pattern] = line.split(" ");
    return { behavior: behavior as PermissionBehavior, pattern: pattern.join(" ") };
  });
/** What a shell tool says of a plain list of commands. */
const plainly = (line: string): CallEffects => ({ commands: line.split("; ").map((text) => ({ text })) });
const decide = (tool: PermissionSubject, policies: readonly PermissionPolicy[], argumentText = "", allowedTools?: readonly string[]) =>
  decidePermission({
    policies: policies.map((policy) => compilePolicy(policy)),
    tool,
    argumentText,
    allowedTools,
    ...(tool === bash && { effects: plainly(argumentText) }),
  });
const behavior = (mode: PermissionMode, tool: PermissionSubject, lines: string[] = [], argumentText = "") =>
  decide(tool, [{ mode, rules: rules(...lines) }], argumentText).behavior;

describe("a permission mode, where no rule says otherwise", () => {
  it("default lets reversible changes run, as tools of an application are unless they say otherwise [MC-08, AV-03]", () => {
    expect(RISK_LEVELS.map((risk) => behavior("default", { name: "note", effect: "write", risk }))).toEqual([
      "allow",
      "allow",
      "ask",
      "ask",
      "ask",
    ]);
  });
  it("default lets reads run and asks for what is dangerous [MC-08]", () => {
    expect([read, edit, bash, deploy].map((tool) => behavior("default", tool))).toEqual(["allow", "ask", "ask", "ask"]);
  });
  it("default asks for a read that declares itself risky [MC-08]", () => {
    expect(RISK_LEVELS.map((risk) => behavior("default", { ...read, risk }))).toEqual(["allow", "allow", "ask", "ask", "ask"]);
  });
  it("accept-edits lets file modifications run too, up to overwrites [MC-08]", () => {
    expect([read, edit, bash, deploy].map((tool) => behavior("accept-edits", tool))).toEqual(["allow", "allow", "ask", "ask"]);
    expect(RISK_LEVELS.map((risk) => behavior("accept-edits", { ...edit, risk }))).toEqual(["allow", "allow", "allow", "ask", "ask"]);
  });
  it("plan-only lets reads run and nothing else [MC-08]", () => {
    expect([read, edit, bash, deploy].map((tool) => behavior("plan-only", tool))).toEqual(["allow", "deny", "deny", "deny"]);
  });
  it("bypass-all lets everything run [MC-08]", () => {
    expect([read, edit, bash, deploy].map((tool) => behavior("bypass-all", tool))).toEqual(["allow", "allow", "allow", "allow"]);
  });
  it("deny-unauthorized lets only that run which a rule allows, and never asks [MC-08]", () => {
    expect([read, edit, bash, deploy].map((tool) => behavior("deny-unauthorized", tool))).toEqual(["deny", "deny", "deny", "deny"]);
    expect(behavior("deny-unauthorized", read, ["allow read_*"])).toBe("allow");
    expect(behavior("deny-unauthorized", read, ["allow read_*", "ask read_file"])).toBe("deny");
  });
});

describe("permission rules", () => {
  it("that deny or ask about edits and writes hold for patches, which are another form of both; rules that allow do not", () => {
    const patch: PermissionSubject = { ...edit, name: "apply_patch" };
    for (const tool of ["edit_file", "write_file"]) {
      expect(behavior("bypass-all", patch, [`deny ${tool}`])).toBe("deny");
      expect(behavior("accept-edits", patch, [`ask ${tool}`])).toBe("ask");
      expect(behavior("default", patch, [`allow ${tool}`])).toBe("ask");
    }
    expect(behavior("bypass-all", { ...edit, name: "search_replace" }, ["deny edit_file"])).toBe("deny");
    expect(behavior("default", patch, ["allow apply_patch"])).toBe("allow");
    expect(behavior("accept-edits", patch, ["deny bash"])).toBe("allow");
  });
  it("decide in the order deny, ask, allow, however specific they are [MC-09, MC-15]", () => {
    expect(behavior("default", bash, ["allow bash(npm test)", "ask bash(npm *)", "deny b*"], "npm test")).toBe("deny");
    expect(behavior("default", bash, ["allow bash(npm test)", "ask b*"], "npm test")).toBe("ask");
    expect(behavior("default", bash, ["allow bash(npm test)"], "npm test")).toBe("allow");
    expect(behavior("bypass-all", bash, ["ask bash(git push*)"], "git push")).toBe("ask");
  });

  it("name the most specific of several equal ones, then the first [MC-15]", () => {
    const said = (...lines: string[]) => decide(bash, [{ mode: "default", rules: rules(...lines) }], "npm test").rule?.pattern;
    expect(said("allow *", "allow bash(npm*)", "allow bash(npm test*)")).toBe("bash(npm test*)");
    expect(said("allow *a*", "allow b*")).toBe("b*");
    expect(said("ask ba*", "ask b*s*", "ask bash")).toBe("bash");
  });

  it("do not open plan-only for what is no read [MC-08, MC-15]", () => {
    expect(behavior("plan-only", edit, ["allow *"])).toBe("deny");
    expect(behavior("plan-only", edit, ["ask *"])).toBe("deny");
    expect(behavior("plan-only", read, ["deny read_file(*secret*)"], '{"path":"secret"}')).toBe("deny");
  });

  it("with a wildcard don't let a shell run whose tool doesn't say what it starts; where such calls are denied in part, they ask", () => {
    const unread: PermissionSubject = { ...bash };
    const lines = ["allow bash(npm test*)", "allow bash(npm run lint; npm test)"];
    expect(behavior("default", unread, lines, "npm test; rm -rf /")).toBe("ask");
    expect(behavior("default", unread, lines, "npm run lint; npm test")).toBe("allow");
    expect(behavior("default", { ...bash, category: "edit" }, lines, "npm test; ls")).toBe("allow");
    expect(behavior("default", unread, ["allow bash"], "anything")).toBe("allow");
    expect(behavior("default", unread, ["allow bash", "deny bash(rm*)"], "anything")).toBe("ask");
    expect(behavior("default", unread, ["allow bash", "deny bash(rm*)"], "rm x")).toBe("deny");
  });

  it("are only given arguments when one of them looks at them", () => {
    const policies = [compilePolicy({ mode: "bypass-all", rules: rules("allow bash(npm*)", "deny write_*") })];
    let made = 0;
    const ask = (tool: PermissionSubject) => decidePermission({ policies, tool, argumentText: () => `text ${++made}` });
    ask({ ...bash, name: "note" });
    expect(made).toBe(0);
    ask({ name: "bash", effect: "write", risk: "high" });
    expect(made).toBe(1);
  });
});

describe("a call that runs confined by a sandbox", () => {
  const confined = (effects: CallEffects, ...refused: string[]): CallEffects => ({ ...effects, confined: { refused } });
  const unread: CallEffects = { commands: [{ text: "make" }], unknown: ["What make runs can't be read."] };
  const judged = (mode: PermissionMode, lines: string[], effects: CallEffects) =>
    decidePermission({
      policies: [compilePolicy({ mode, rules: rules(...lines) })],
      tool: bash,
      argumentText: "make",
      effects,
      cwd: "/work",
    });

  it("needs no question, known or not; what its sandbox refuses is denied with the reason and what to do", () => {
    for (const mode of ["default", "accept-edits"] as const) {
      expect(judged(mode, [], unread).behavior).toBe("ask");
      expect(judged(mode, [], confined(unread)).behavior).toBe("allow");
      expect(judged(mode, [], confined(plainly("npm install; make"))).behavior).toBe("allow");
    }
    const refused = judged("default", ["allow bash"], confined(unread, 'It writes "/etc/x", and only /work can be written.'));
    expect(refused.behavior).toBe("deny");
    expect(refused.reason).toMatch(/sandbox.*It writes "\/etc\/x", and only \/work can be written\. Find another way/);
    expect(judged("bypass-all", ["allow bash(make)"], confined(unread, "It writes x.")).behavior).toBe("deny");
  });

  it("is held to deny and ask rules, also where it can't be known whether they are about it", () => {
    expect(judged("default", ["deny bash(make*)"], confined(unread)).behavior).toBe("deny");
    expect(judged("default", ["ask bash(make*)"], confined(unread)).behavior).toBe("ask");
    expect(judged("default", ["ask bash(git push*)"], confined(unread)).behavior).toBe("ask");
    expect(judged("default", ["deny read_file(x)"], confined(unread)).behavior).toBe("ask");
    expect(judged("default", ["ask bash(git push*)"], confined(plainly("make"))).behavior).toBe("allow");
  });

  it("is asked about where it touches sensitive files", () => {
    expect(judged("default", [], confined({ ...plainly("cat .env"), reads: [".env"] })).behavior).toBe("ask");
    expect(judged("default", [], confined({ ...plainly("x"), writes: [".git/hooks/pre-commit"] })).behavior).toBe("ask");
    expect(judged("default", ["allow read_file(.env)"], confined({ ...plainly("cat .env"), reads: [".env"] })).behavior).toBe("allow");
  });

  it("opens neither plan-only nor deny-unauthorized", () => {
    expect(judged("plan-only", [], confined(unread)).behavior).toBe("deny");
    expect(judged("deny-unauthorized", [], confined(unread)).behavior).toBe("deny");
    expect(judged("deny-unauthorized", ["allow bash(make)"], confined(unread)).behavior).toBe("allow");
  });
});

describe("a chain of policies", () => {
  it("decides as its strictest member, so a child of a careful parent stays careful [MC-08]", () => {
    const bypass: PermissionPolicy = { mode: "bypass-all", rules: [] };
    const careful: PermissionPolicy = { mode: "default", rules: rules("deny deploy") };
    expect(decide(bash, [careful, bypass]).behavior).toBe("ask");
    expect(decide(bash, [bypass, careful]).behavior).toBe("ask");
    expect(decide(deploy, [bypass, careful]).behavior).toBe("deny");
    expect(decide(bash, [bypass, { mode: "bypass-all", rules: rules("deny bash") }]).behavior).toBe("deny");
  });

  it("is refused what is not on the list of allowed tools, whatever the rules say [AG-09]", () => {
    const policies: PermissionPolicy[] = [{ mode: "bypass-all", rules: rules("allow *") }];
    expect(decide(bash, policies, "", ["read_file"])).toMatchObject({
      behavior: "deny",
      reason: expect.stringContaining("may call only read_file"),
    });
    expect(decide(bash, policies, "", []).reason).toContain("no tools at all");
    expect(decide(bash, policies, "", ["bash"]).behavior).toBe("allow");
  });
});

describe("the reason of a decision", () => {
  it("names the rule or mode, and what to do", () => {
    expect(decide(bash, [{ mode: "default", rules: rules("deny bash(rm*)") }], "rm x")).toEqual({
      behavior: "deny",
      rule: { pattern: "bash(rm*)", behavior: "deny" },
      reason: 'The permission rule "bash(rm*)" denies it. Find another way, or have that rule changed.',
    });
    expect(decide(edit, [{ mode: "plan-only", rules: [] }]).reason).toMatch(/plan-only.*edit_file is not a read.*leave plan-only mode/);
    expect(decide(bash, [{ mode: "default", rules: [] }]).reason).toMatch(/mode default, bash asks first.*risk high.*allow rule/);
    expect(decide(bash, [{ mode: "deny-unauthorized", rules: rules("ask bash") }]).reason).toMatch(
      /deny-unauthorized.*the rule "bash" only asks/,
    );
  });

  it("is made beforehand when a call is allowed: the same object every time", () => {
    const policies = PERMISSION_MODES.map((mode) => compilePolicy({ mode, rules: rules("allow read_*", "allow bash(npm*)") }));
    const once = () => decidePermission({ policies, tool: read, argumentText: "" });
    expect(once().behavior).toBe("allow");
    expect(once()).toBe(once());
  });
});

it("judges tools of one name by what each of them is, however often they are asked for", () => {
  const policies = [compilePolicy({ mode: "accept-edits", rules: [] })];
  const note = (subject: Omit<PermissionSubject, "name">) => ({ name: "note", ...subject });
  const tools = [
    note({ effect: "read", risk: "none" }),
    note({ effect: "write", risk: "medium" }),
    note({ effect: "write", risk: "medium", category: "edit" }),
    note({ effect: "idempotent", risk: "medium" }),
    note({ effect: "write", risk: "high" }),
  ];
  const reasons = (subject: PermissionSubject) => decidePermission({ policies, tool: subject, argumentText: "" }).reason;
  const alone = tools.map((tool) => decide(tool, [{ mode: "accept-edits", rules: [] }]).reason);
  expect(new Set(alone).size).toBe(tools.length);
  fc.assert(
    fc.property(fc.array(fc.nat({ max: tools.length - 1 })), (asked) => {
      for (const index of asked) expect(reasons(tools[index] as PermissionSubject)).toBe(alone[index]);
    }),
  );
});

it("judges each call by its arguments where a rule about its tool looks at them", () => {
  const policies = [compilePolicy({ mode: "default", rules: rules("allow bash(ls*)", "deny bash(rm*)") })];
  const verdicts = ["ls a", "rm a", "cat a", "ls b"].map(
    (argumentText) => decidePermission({ policies, tool: bash, argumentText, effects: plainly(argumentText) }).behavior,
  );
  expect(verdicts).toEqual(["allow", "deny", "ask", "allow"]);
});

it("refuses an unknown mode and names the known ones [MC-08]", () => {
  expect(() => compilePolicy({ mode: "yolo" as PermissionMode, rules: [] })).toThrow(/no permission mode "yolo".*plan-only/);
});

it("keeps the order none < low < medium < high < critical of risks [AV-03]", () => {
  expect(RISK_LEVELS).toEqual(["none", "low", "medium", "high", "critical"]);
  fc.assert(
    fc.property(fc.nat({ max: 4 }), fc.nat({ max: 4 }), (a, b) => {
      expect(Math.sign(compareRisk(RISK_LEVELS[a]!, RISK_LEVELS[b]!))).toBe(Math.sign(a - b));
    }),
  );
});

describe("untrusted text in context", () => {
  const fetch: PermissionSubject = { name: "web_fetch", effect: "read", risk: "none" };
  const untrusted = ["read_page: https://example.com/page"];
  const judge = (effects: CallEffects | undefined, mode: PermissionMode = "default", lines: string[] = [], tool = fetch) =>
    decidePermission({
      policies: [compilePolicy({ mode, rules: rules(...lines) })],
      tool,
      argumentText: "u",
      effects,
      untrusted,
      cwd: "/work",
    });

  it.each<[string, CallEffects, string]>([
    ["hosts", { hosts: ["evil.example"] }, 'it connects to "evil.example"'],
    ["secrets", { secrets: ["env:TOKEN"] }, 'it uses the secret "env:TOKEN"'],
    ["programs", { commands: [{ text: "npm test" }] }, '"npm test" may connect to anything'],
    ["what can't be known", { unknown: ["The program is taken from $TOOL."] }, "what it connects to can't be known by reading it"],
  ])("asks about %s, in each mode that asks at all", (_what, effects, told) => {
    for (const mode of ["default", "accept-edits", "plan-only"] as const) {
      const { behavior: verdict, reason } = judge(effects, mode);
      expect([verdict, reason]).toEqual(["ask", expect.stringContaining(told)]);
      expect(reason).toContain('from "read_page: https://example.com/page"');
    }
    expect(judge(effects, "deny-unauthorized")).toMatchObject({ behavior: "deny", reason: expect.stringContaining(told) });
    expect(judge(effects, "bypass-all").behavior).toBe("allow");
  });

  it("asks nothing about what a sandbox confines to no host or to those of its policy, but about secrets, and where it reaches any host", () => {
    const confined = (reaches: "none" | "listed" | "any", more: CallEffects = {}) =>
      judge({ commands: [{ text: "npm test" }], confined: { refused: [], reaches }, ...more }, "default", [], bash).behavior;
    expect([confined("none"), confined("listed"), confined("any")]).toEqual(["allow", "allow", "ask"]);
    expect(confined("none", { secrets: ["env:TOKEN"] })).toBe("ask");
  });

  it("offers what would let it run without a question, and that does", () => {
    const { always } = judge({ hosts: ["evil.example"] });
    expect(always?.map(({ rules: [rule] }) => judge({ hosts: ["evil.example"] }, "default", [`allow ${rule}`]).behavior)).toEqual([
      "allow",
      "allow",
    ]);
  });

  it("leaves alone what stays here: files, and commands that are known to change nothing", () => {
    expect(judge({ reads: ["src/a.ts"] }).behavior).toBe("allow");
    expect(judge({ commands: [{ text: "ls", readOnly: true }] }, "default", [], bash).behavior).toBe("allow");
    expect(judge({ writes: ["src/a.ts"] }, "accept-edits", [], edit).behavior).toBe("allow");
    expect(judge(undefined).behavior).toBe("allow");
  });

  it("names its sources in every question, the newest of many", () => {
    const { reason } = decidePermission({
      policies: [compilePolicy({ mode: "default", rules: rules("ask read_file") })],
      tool: read,
      argumentText: "",
      untrusted: ["a", "b", "c", "d", "e"],
    });
    expect(reason).toMatch(/is in context, from "c", "d", "e" and 2 more: it may be what asks for this\.$/);
  });

  it("never makes a verdict milder", () => {
    const effects = fc.record<CallEffects>(
      {
        hosts: fc.subarray(["a.example", "b.example"]),
        secrets: fc.subarray(["env:A"]),
        reads: fc.subarray(["src/a", "/etc/passwd", ".env"]),
        commands: fc.subarray([{ text: "ls", readOnly: true }, { text: "npm test" }]),
        unknown: fc.subarray(["who knows"]),
      },
      { requiredKeys: [] },
    );
    const line = fc.constantFrom("allow bash", "allow web_fetch(a.example)", "deny web_fetch(*)", "ask bash(npm*)", "allow bash(npm test)");
    const strictness = { allow: 0, ask: 1, deny: 2 };
    fc.assert(
      fc.property(
        effects,
        fc.constantFrom(...PERMISSION_MODES),
        fc.array(line, { maxLength: 3 }),
        fc.constantFrom(bash, fetch, read, edit),
        (given, mode, lines, tool) => {
          const policies = [compilePolicy({ mode, rules: rules(...lines) })];
          const without = decidePermission({ policies, tool, argumentText: "", effects: given, cwd: "/work" }).behavior;
          expect(strictness[judge(given, mode, lines, tool).behavior]).toBeGreaterThanOrEqual(strictness[without]);
        },
      ),
    );
  });
});
