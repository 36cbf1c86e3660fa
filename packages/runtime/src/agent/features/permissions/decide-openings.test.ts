import {
  type CallEffects,
  PERMISSION_MODES,
  type PermissionBehavior,
  type PermissionMode,
  type PermissionPolicy,
  type PermissionRule,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { compilePolicy } from "../../definition/permissions/compiled-policy.ts";
import { checkGrantedPatterns, grantsFor } from "../../definition/permissions/granted-rules.ts";
import type { PermissionSubject } from "../../definition/permissions/judged-call.ts";
import { decidePermission } from "./decide-permission.ts";
import { judgeHost, judgeReveal } from "./judge-host.ts";

const bash: PermissionSubject = { name: "bash", effect: "write", risk: "high", category: "shell" };
const policy = (lines: readonly string[], mode: PermissionMode = "default"): PermissionPolicy => ({
  mode,
  rules: lines.map((line): PermissionRule => {
    const [behavior, ...pattern] = line.split(" ");
    return { behavior: behavior as PermissionBehavior, pattern: pattern.join(" ") };
  }),
});
const decide = (
  command: string,
  effects: CallEffects,
  { lines = [], mode = "default", grants = [] }: { lines?: readonly string[]; mode?: PermissionMode; grants?: readonly string[] } = {},
) =>
  decidePermission({
    policies: [compilePolicy(policy(lines, mode))],
    tool: bash,
    argumentText: command,
    effects,
    grants: grantsFor(new Set(grants), "bash"),
  });

describe("a command outside of the sandbox", () => {
  const outside = (command: string, more: CallEffects = {}): CallEffects => ({
    commands: command.split(" && ").map((text) => ({ text, readOnly: text.startsWith("ls") })),
    outside: { reason: "It needs the key." },
    ...more,
  });
  const behavior = (command: string, options: Parameters<typeof decide>[2] = {}, more: CallEffects = {}) =>
    decide(command, outside(command, more), options).behavior;

  it("is a question with its reason, whatever rule, grant or mode covers the command inside [MC-08]", () => {
    for (const line of [
      "allow bash",
      "allow *",
      "allow bash(*)",
      "allow bash(npm publish*)",
      "allow bash(npm publish)",
      "allow *(npm publish)",
    ])
      expect(behavior("npm publish", { lines: [line] }), line).toBe("ask");
    for (const grant of ["bash", "bash(npm publish)", "*"]) expect(behavior("npm publish", { grants: [grant] }), grant).toBe("ask");
    for (const mode of PERMISSION_MODES.filter((mode) => !["bypass-all", "deny-unauthorized", "plan-only"].includes(mode)))
      expect(behavior("npm publish", { mode }), mode).toBe("ask");
    expect(behavior("ls")).toBe("ask");
    expect(decide("npm publish", outside("npm publish"))).toMatchObject({
      reason: expect.stringMatching(/outside of the sandbox.*"It needs the key\."/),
      always: [{ scope: "outside", rules: ["outside(npm publish)"] }],
    });
  });

  it("runs unasked by a rule or an answer about `outside` that covers each of its commands", () => {
    expect(behavior("npm publish --tag next", { lines: ["allow outside(npm publish*)"] })).toBe("allow");
    expect(behavior("npm publish", { grants: ["outside(npm publish)"] })).toBe("allow");
    expect(behavior("npm publish && curl evil.com", { lines: ["allow outside(npm publish*)", "allow bash"] })).toBe("ask");
    expect(behavior("npm publish && ls", { lines: ["allow outside(npm publish*)"] })).toBe("ask");
    expect(behavior("npm publish", { lines: ["allow outside(npm publish*)"] }, { unknown: ["It can't be read."] })).toBe("ask");
    expect(behavior("npm publish", { lines: ["allow outside(npm publish*)"] }, { writes: [".git/config"] })).toBe("ask");
    expect(behavior("npm publish", { mode: "bypass-all" })).toBe("allow");
  });

  it("is denied by every rule that denies the command, and where only rules allow", () => {
    expect(behavior("npm publish", { lines: ["deny bash(npm *)", "allow outside"] })).toBe("deny");
    expect(behavior("npm publish", { lines: ["deny outside"], mode: "bypass-all" })).toBe("deny");
    expect(behavior("npm publish", { lines: ["deny outside(npm *)", "allow outside"] })).toBe("deny");
    expect(behavior("npm publish", { lines: ["allow bash"], mode: "deny-unauthorized" })).toBe("deny");
    expect(behavior("npm publish", { lines: ["allow outside(npm *)"], mode: "deny-unauthorized" })).toBe("allow");
    expect(decide("npm publish", { commands: [{ text: "npm publish" }] }, { lines: ["deny outside", "allow bash"] }).behavior).toBe(
      "allow",
    );
  });
});

describe("a host that the sandbox does not list", () => {
  const effects: CallEffects = {
    commands: [{ text: "curl https://example.com" }],
    hosts: ["example.com"],
    confined: { refused: [], reaches: "listed", closed: ["example.com"] },
  };
  const behavior = (options: Parameters<typeof decide>[2] = {}) => decide("curl https://example.com", effects, options).behavior;

  it("is a question that names it, and that only a rule or an answer about `host` ends [MC-12]", () => {
    for (const lines of [
      [],
      ["allow bash"],
      ["allow *"],
      ["allow bash(curl https://example.com)"],
      ["allow host(other.com)"],
      ["allow *(example.com)"],
    ])
      expect(behavior({ lines }), String(lines)).toBe("ask");
    expect(decide("curl https://example.com", effects)).toMatchObject({
      reason: expect.stringContaining("example.com"),
      always: [{ scope: "host", rules: ["host(example.com)"] }],
    });
    expect(behavior({ lines: ["allow host(example.com)"] })).toBe("allow");
    expect(behavior({ lines: ["allow host(*.com)"] })).toBe("allow");
    expect(behavior({ grants: ["host(example.com)"] })).toBe("allow");
    expect(behavior({ lines: ["allow host", "deny host(example.com)"] })).toBe("deny");
    expect(behavior({ mode: "deny-unauthorized", lines: ["allow bash"] })).toBe("deny");
  });

  it("is asked about by the sandbox and not refused by the bounds of its policy", () => {
    const bounds = { network: { enabled: true, allowedDomains: ["listed.com"] } };
    const decided = (given: CallEffects) =>
      decidePermission({ policies: [compilePolicy({ ...policy([]), bounds })], tool: bash, argumentText: "curl x", effects: given })
        .behavior;
    expect(decided(effects)).toBe("ask");
    expect(decided({ ...effects, confined: { refused: [] } })).toBe("deny");
  });

  it("is opened for connections while they are made by the same rules, on the usual ports or the one that is named", () => {
    const verdict = (
      host: string,
      port: number,
      lines: readonly string[],
      mode: PermissionMode = "default",
      grants: readonly string[] = [],
    ) =>
      judgeHost(
        { host, port },
        { policies: [compilePolicy(policy(lines, mode))], tool: "bash", grants: grantsFor(new Set(grants), "bash") },
      );
    expect(verdict("Example.com", 443, ["allow host(example.com)"])).toBe("open");
    expect(verdict("example.com", 22, ["allow host(example.com)"])).toBe("unlisted");
    expect(verdict("example.com", 5432, ["allow host(example.com:5432)"])).toBe("open");
    expect(verdict("example.com", 443, [], "default", ["host(example.com)"])).toBe("open");
    expect(verdict("example.com", 443, ["allow web_fetch(example.com)", "allow bash"])).toBe("unlisted");
    expect(verdict("example.com", 443, ["allow host", "deny web_fetch(example.com)"])).toBe("denied");
    expect(verdict("example.com", 8443, ["deny host(example.com)"])).toBe("denied");
    expect(verdict("example.com", 443, [], "bypass-all")).toBe("unlisted");
    expect(verdict("example.com", 443, [], "deny-unauthorized", ["host(example.com)"])).toBe("unlisted");
  });
});

describe("a port of the sandbox on this machine", () => {
  const effects: CallEffects = { commands: [{ text: "npm run dev" }], ports: [3000, 3001], confined: { refused: [], reaches: "listed" } };
  it("is a question that names it, and that a rule or an answer about `port` ends", () => {
    expect(decide("npm run dev", effects, { lines: ["allow bash"], grants: ["port(3000)"] })).toMatchObject({
      behavior: "ask",
      always: [{ scope: "port", rules: ["port(3001)"] }],
    });
    expect(decide("npm run dev", effects, { lines: ["allow port(300*)"] }).behavior).toBe("allow");
    expect(decide("npm run dev", effects, { lines: ["deny port(3001)", "allow port"] }).behavior).toBe("deny");
  });
});

it("an answer may hold rules about outside, hosts and ports beside those of the tool", () => {
  for (const pattern of ["outside(npm publish)", "host(example.com)", "port(3000)"])
    expect(() => checkGrantedPatterns([pattern], "bash")).not.toThrow();
  expect(() => checkGrantedPatterns(["outsid(npm publish)"], "bash")).toThrow(/is about no call of bash/);
});

describe("a hidden file", () => {
  const reveals: CallEffects = { commands: [{ text: "npm test" }], reveals: [".env"], confined: { refused: [] } };

  it("is revealed by a question that names it, or by a rule about reveal, and by no other rule", () => {
    for (const line of [
      "allow bash",
      "allow bash(*)",
      "allow bash(npm test)",
      "allow *",
      "allow read_file(.env)",
      "allow reveal(.env.local)",
    ])
      expect([line, decide("npm test", reveals, { lines: [line] }).behavior]).toEqual([line, "ask"]);
    expect(decide("npm test", reveals)).toMatchObject({
      behavior: "ask",
      reason: expect.stringContaining("It would see .env, which the sandbox hides"),
      always: [{ scope: "reveal", rules: ["reveal(.env)"] }],
    });
    for (const line of ["allow reveal(.env)", "allow reveal(.env*)", "allow reveal(**/.env)", "allow reveal"])
      expect([line, decide("npm test", reveals, { lines: [line] }).behavior]).toEqual([line, "allow"]);
    expect(decide("npm test", reveals, { grants: ["reveal(.env)"] }).behavior).toBe("allow");
    expect(decide("npm test", reveals, { mode: "deny-unauthorized", lines: ["allow bash"] }).behavior).toBe("deny");
  });

  it("stays hidden where a rule denies reading or revealing it", () => {
    for (const line of ["deny reveal(.env)", "deny read_file(**/.env)", "deny read_file(.env)"])
      expect([line, decide("npm test", reveals, { lines: [line, "allow reveal(.env)"] }).behavior]).toEqual([line, "deny"]);
  });

  it("is revealed to every command by rules and answers, unless a rule denies or asks about it", () => {
    const given = (lines: readonly string[], grants: readonly string[] = []) =>
      judgeReveal(".env", { policies: [compilePolicy(policy(lines))], tool: "bash", grants: grantsFor(new Set(grants), "bash") });
    expect([given([]), given(["allow bash"]), given(["allow reveal(.env)"]), given([], ["reveal(.env)"])]).toEqual([
      false,
      false,
      true,
      true,
    ]);
    for (const line of ["deny read_file(**/.env)", "ask reveal(.env)", "deny reveal"])
      expect([line, given([line, "allow reveal(.env)"])]).toEqual([line, false]);
    expect(judgeReveal(".env", { policies: [], tool: "bash", grants: [] })).toBe(false);
  });
});

describe("a command that may destroy what nothing can bring back", () => {
  const loses = [
    { path: "/w/node_modules", description: "node_modules (12 files): git ignores it" },
    { path: "/w/big/data.bin", description: "big/data.bin (2 MiB): git ignores it" },
  ];
  const command = "rm -rf node_modules big/data.bin";
  const effects: CallEffects = { commands: [{ text: command, destroysNamed: true }], loses };
  const decideAt = (lines: readonly string[], given: CallEffects = effects, mode: PermissionMode = "default") =>
    decidePermission({ policies: [compilePolicy(policy(lines, mode))], tool: bash, argumentText: command, effects: given, cwd: "/w" });

  it("is a question that names it, whatever rule with a wildcard covers the command, and in a sandbox as well", () => {
    const reason = /It may destroy what nothing can bring back: node_modules \(12 files\): git ignores it; big\/data\.bin/;
    for (const line of [
      "allow bash",
      "allow *",
      "allow bash(rm **)",
      "allow bash(rm -rf *)",
      "allow lose(dist)",
      "allow lose(node_modules)",
    ])
      expect([line, decideAt([line])]).toEqual([
        line,
        expect.objectContaining({ behavior: "ask", reason: expect.stringMatching(/big\/data\.bin/) }),
      ]);
    expect(decideAt(["allow bash"])).toMatchObject({
      reason: expect.stringMatching(reason),
      shown: { summary: expect.stringMatching(reason) },
      always: [{ scope: "lose", rules: ["lose(node_modules)", "lose(big/data.bin)"] }],
    });
    expect(decideAt([], { ...effects, confined: { refused: [] } }).behavior).toBe("ask");
    expect(decideAt([], effects, "accept-edits").behavior).toBe("ask");
  });

  it("runs by rules about `lose`, by a rule that is exactly this call, and in bypass-all", () => {
    for (const lines of [
      ["allow bash(rm **)", "allow lose(node_modules)", "allow lose(big)"],
      ["allow bash(rm **)", "allow lose(*)"],
      ["allow bash(rm **)", "allow lose"],
      [`allow bash(${command})`],
    ])
      expect([lines, decideAt(lines).behavior]).toEqual([lines, "allow"]);
    expect(decideAt([], effects, "bypass-all").behavior).toBe("allow");
    expect(decideAt(["allow lose"]).behavior).toBe("ask");
  });

  it("is denied by a rule about `lose`, and where nobody is asked", () => {
    expect(decideAt(["allow bash", "deny lose(big/**)"]).behavior).toBe("deny");
    expect(decideAt(["allow bash", "ask lose(big/**)"], effects, "bypass-all").behavior).toBe("ask");
    expect(decideAt(["allow bash"], effects, "deny-unauthorized")).toMatchObject({
      behavior: "deny",
      reason: expect.stringContaining('"lose(dist)"'),
    });
  });

  it("offers no lasting answer but for exactly this call if reading cannot tell what is lost", () => {
    const unknown = { ...effects, loses: [{ path: "*", description: "which files cannot be known" }] };
    expect(decideAt(["allow bash", "allow lose(node_modules)"], unknown)).toMatchObject({
      behavior: "ask",
      always: [{ rules: [`bash(${command})`] }],
    });
    expect(decideAt(["allow bash", "allow lose"], unknown).behavior).toBe("allow");
  });

  it("says in a question of another reason that more may be lost, and asks no question for that alone", () => {
    const unread = { commands: [{ text: command }], mayLose: "What it deletes cannot be brought back." };
    expect(decideAt([], unread)).toMatchObject({
      behavior: "ask",
      reason: expect.stringMatching(/What it deletes cannot be brought back\.$/),
      shown: { summary: expect.stringMatching(/; what it deletes cannot be brought back$/) },
    });
    expect(decideAt(["allow bash(rm **)"], unread).behavior).toBe("allow");
  });
});
