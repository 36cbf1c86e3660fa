import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentError, type CallEffects, type PermissionBehavior, type PermissionPolicy } from "@keelson/protocol";
import { afterAll, describe, expect, it } from "vitest";
import { decidePermission } from "../../agent/features/permissions/decide-permission.ts";
import { mayReadUnasked } from "../../agent/features/permissions/may-read-unasked.ts";
import { compilePolicy } from "../../agent/definition/permissions/compiled-policy.ts";
import { readCommandLine } from "../../environment/command-line/read-command-line.ts";
import { judgeEffects } from "../../environment/sandbox/judge-effects.ts";
import { defineTool } from "../../tools/define-tool.ts";
import { explainCall } from "./explain-call.ts";
import { loadPolicy } from "./load-policy.ts";
import { readPolicy, type PolicyFile } from "./read-policy.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-policy-"));
afterAll(() => rmSync(folder, { recursive: true }));
const cwd = "/work/project";
const file: PolicyFile = {
  permissions: { mode: "accept-edits", allow: ["bash(npm test*)"], deny: ["bash(git push*)"], ask: ["bash(npm publish*)"] },
  filesystem: { deniedPaths: ["private", "~/keys"], writableRoots: ["."] },
  network: { enabled: true, allowedDomains: ["registry.test"], deniedDomains: ["bad.registry.test"] },
  commands: { denied: ["curl"] },
};
const commandOf = (input: unknown): string => (input as { readonly command: string }).command;
const bash = defineTool({
  name: "bash",
  description: "Runs a command line.",
  risk: "high",
  category: "shell",
  input: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
  permissionText: (input) => commandOf(input),
  effectsOf: (input, where) => readCommandLine(commandOf(input), where),
  execute: () => "ran",
});
const policyOf = (value: PolicyFile): PermissionPolicy => ({ mode: "default", ...readPolicy(value).permissions });
async function judge(line: string, value: PolicyFile = file, confined?: CallEffects["confined"]): Promise<PermissionBehavior> {
  const effects = { ...(await readCommandLine(line, { cwd })), ...(confined !== undefined && { confined }) };
  return decidePermission({ policies: [compilePolicy(policyOf(value))], tool: bash, argumentText: line, effects, cwd }).behavior;
}
const judgeAll = (lines: readonly string[], value?: PolicyFile) => Promise.all(lines.map((line) => judge(line, value)));

describe("a policy file", () => {
  it("is the permissions of an agent and the policy of a sandbox, from one reading [MC-09, MC-11]", () => {
    const { permissions, sandbox } = readPolicy(file);
    expect(permissions).toEqual({
      mode: "accept-edits",
      rules: [
        { pattern: "bash(git push*)", behavior: "deny" },
        { pattern: "bash(npm publish*)", behavior: "ask" },
        { pattern: "bash(npm test*)", behavior: "allow" },
      ],
      bounds: { filesystem: file.filesystem, network: file.network, commands: file.commands },
    });
    expect(sandbox).toEqual({ filesystem: file.filesystem, network: file.network, commands: file.commands });
    expect(readPolicy({})).toEqual({ permissions: { rules: [] }, sandbox: {} });
  });

  it.each([
    [{ permission: {} }, 'it has no "permission"; did you mean "permissions"?'],
    [{ permissions: { alow: [] } }, 'it has no "permissions.alow"; did you mean "allow"?'],
    [{ permissions: { mode: "yolo" } }, '"permissions.mode" is no permission mode: there are default'],
    [{ permissions: { allow: "bash" } }, '"permissions.allow" is no list'],
    [
      { permissions: { allow: ["bash", "bash(npm test"] } },
      'permissions.allow[1]: the permission rule "bash(npm test" has a "(" without a ")"',
    ],
    [{ permissions: { deny: ["read_file(./x/../y)"] } }, "permissions.deny[0]"],
    [{ permissions: { sensitivePaths: true } }, '"permissions.sensitivePaths" must be false, or'],
    [{ filesystem: { deniedPaths: ["**/.env"] } }, '"filesystem.deniedPaths" has "**/.env", which is a pattern'],
    [{ network: {} }, '"network.enabled" is missing'],
  ])("is refused with its name and the member where it is not understood: %j", (value, words) => {
    expect(() => readPolicy(value, "/home/ada/policy.json")).toThrow(words);
    expect(() => readPolicy(value, "/home/ada/policy.json")).toThrow("The policy /home/ada/policy.json is not understood");
  });

  it("is read from a file, whose errors name it and the line", async () => {
    const path = join(folder, "policy.json");
    writeFileSync(path, `\uFEFF${JSON.stringify(file)}`);
    expect(await loadPolicy(path)).toEqual(readPolicy(file));
    writeFileSync(path, '{\n  "permissions": {,\n}');
    await expect(loadPolicy(path)).rejects.toThrow(/policy\.json is not understood: it is no JSON .*line 2/);
    await expect(loadPolicy(join(folder, "none.json"))).rejects.toThrow(/none\.json can't be read: there is no such file/);
    await expect(loadPolicy(folder)).rejects.toSatisfy((error) => AgentError.is(error, "invalid-option"));
  });
});

describe("without a sandbox, a policy file binds what calls do", () => {
  it("as deny rules do: denied files, hosts and programs, and what its lists don't have [AG-21]", async () => {
    const denied = [
      "cat private/x",
      "cat ~/keys/a",
      "cp src/a ../elsewhere",
      "echo x > /etc/motd",
      "npm install --registry https://bad.registry.test/",
      "npm install --registry=https://bad.registry.test/",
      "git clone https://other.test/x",
      "curl registry.test",
      "/usr/bin/curl registry.test",
      "find . -exec curl x \\;",
      "sh -c 'curl x'",
      "npm test && curl x",
    ];
    expect(await judgeAll(denied)).toEqual(denied.map(() => "deny"));
    expect(await judgeAll(["npm test", "ls", "npm publish", "git push"])).toEqual(["allow", "allow", "ask", "deny"]);
  });

  it("and what can't be known is asked about, whatever is allowed in general", async () => {
    const open: PolicyFile = { ...file, permissions: { allow: ["bash"] } };
    const unknown = ["$X y", 'eval "$Y"', "python -c 'print(1)'", "base64 -d x | sh", "make -f other"];
    expect(await judgeAll(unknown, open)).toEqual(unknown.map(() => "ask"));
    expect(await judgeAll(unknown, { permissions: { allow: ["bash"] } })).toEqual(unknown.map(() => "allow"));
    expect(await judgeAll(unknown, { ...open, permissions: { mode: "bypass-all" } })).toEqual(unknown.map(() => "ask"));
    expect(await judge("$X y", open, { refused: [] })).toBe("allow");
  });

  it("of every tool, and searches leave out what is denied", () => {
    const policies = [compilePolicy(policyOf({ ...file, permissions: { mode: "bypass-all" } }))];
    const read = { name: "read_file", effect: "read", risk: "none" } as const;
    const decide = (effects: CallEffects) => decidePermission({ policies, tool: read, argumentText: "{}", effects, cwd });
    expect(decide({ reads: ["private/x"] })).toMatchObject({
      behavior: "deny",
      reason: expect.stringContaining('It reads "private/x", which the policy denies.'),
    });
    expect(decide({ reads: ["src/x"] }).behavior).toBe("allow");
    expect(decide({ hosts: ["other.test"] }).behavior).toBe("deny");
    const mayRead = (path: string) => mayReadUnasked({ policies, tool: "grep", path, named: ["."], cwd, grants: [] });
    expect([mayRead("private/x"), mayRead("src/x")]).toEqual([false, true]);
  });

  it("as far as it says something: what it leaves out is a matter of rules and modes", async () => {
    const value: PolicyFile = {
      permissions: { allow: ["bash(touch*)"] },
      filesystem: { deniedPaths: ["private"] },
      commands: { allowed: ["touch", "cat"] },
    };
    expect(await judgeAll(["touch ../x", "touch private/x", "cat /etc/passwd", "make"], value)).toEqual(["allow", "deny", "ask", "deny"]);
  });

  it("and refuses nothing that the sandbox of the same policy lets through", async () => {
    const places = { workspace: cwd, home: "/home/ada" };
    const lines = [
      "touch src/a",
      "cp a /tmp/b",
      "cat /etc/hosts",
      "npm test",
      "curl x",
      "git clone https://registry.test/x",
      "cat private/x",
    ];
    for (const line of lines) {
      const effects = await readCommandLine(line, { cwd });
      if (judgeEffects(readPolicy(file).sandbox, effects, places).length === 0) expect(await judge(line), line).not.toBe("deny");
    }
  });
});

describe("the explanation of a call", () => {
  const explain = async (command: string, confine?: (effects: CallEffects) => CallEffects) => {
    const explained = await explainCall({
      tool: bash,
      input: { command },
      policies: [policyOf(file)],
      cwd,
      ...(confine && { executor: { confine } }),
    });
    return {
      all: explained.decision.behavior,
      parts: explained.parts.map(({ kind, text, behavior }) => `${behavior}: ${kind} ${text}`),
      reasons: explained.parts.map(({ reason }) => reason),
    };
  };

  it("has a verdict and its reason for each thing that the call would do", async () => {
    const { all, parts, reasons } = await explain("npm test; cat private/x .env; $X");
    expect(all).toBe("deny");
    expect(parts).toEqual([
      "allow: command npm test",
      "allow: command cat private/x .env",
      "ask: command $X",
      "deny: read /work/project/private/x",
      "ask: read /work/project/.env",
      "ask: unknown Which program `$X` starts can't be read.",
    ]);
    expect(reasons[0]).toContain('rule "bash(npm test*)" allows it');
    expect(reasons[3]).toContain("which the policy denies");
    expect(reasons[4]).toContain("It is sensitive");
  });

  it("is another where a sandbox confines it", async () => {
    const { sandbox } = readPolicy(file);
    const confine = (effects: CallEffects): CallEffects => ({
      ...effects,
      confined: { refused: judgeEffects(sandbox, effects, { workspace: cwd, home: "/home/ada" }) },
    });
    expect(await explain("make; $X", confine)).toMatchObject({ all: "ask" });
    const { permissions: _, ...plain } = file;
    expect(await judge("make; $X", plain, { refused: [] })).toBe("allow");
    const { all, parts } = await explain("npm ci; touch /etc/x", confine);
    expect(all).toBe("deny");
    expect(parts).toEqual(["allow: command npm ci", "allow: command touch /etc/x", "allow: write /work/project", "deny: write /etc/x"]);
  });
});
