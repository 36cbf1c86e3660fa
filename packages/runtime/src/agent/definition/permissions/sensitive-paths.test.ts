import type { CallEffects, PermissionMode, PermissionRule, SensitivePaths } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { GIT_STEERING_PATHS, STEERING_PATHS } from "../../../environment/workspace/steering-paths.ts";
import { compilePolicy } from "./compiled-policy.ts";
import { decidePermission } from "../../features/permissions/decide-permission.ts";
import type { PermissionSubject } from "./judged-call.ts";

const read: PermissionSubject = { name: "read_file", effect: "read", risk: "none" };
const write: PermissionSubject = { name: "write_file", effect: "write", risk: "low", category: "edit" };
const bash: PermissionSubject = { name: "bash", effect: "write", risk: "high" };

interface Given {
  readonly mode?: PermissionMode;
  readonly allow?: readonly string[];
  readonly sensitivePaths?: SensitivePaths;
}
const decide = (tool: PermissionSubject, effects: CallEffects, { mode = "default", allow = [], sensitivePaths }: Given = {}) => {
  const rules = allow.map((pattern): PermissionRule => ({ pattern, behavior: "allow" }));
  const policy = compilePolicy({ mode, rules, ...(sensitivePaths !== undefined && { sensitivePaths }) });
  return decidePermission({ policies: [policy], tool, argumentText: "the line", effects, cwd: "/home/ada/app" });
};
const reading = (path: string, given?: Given) => decide(read, { reads: [path] }, given).behavior;
const writing = (path: string, given?: Given) => decide(write, { writes: [path] }, given).behavior;

const SECRETS = [
  ".env",
  ".env.local",
  "a/b/.env.production",
  ".ENV",
  "certs/server.pem",
  "id_rsa",
  "/home/ada/.ssh/config",
  "/home/ada/.aws/credentials",
  ".netrc",
  "~/.ssh/id_ed25519",
  "/etc/shadow",
];
const STEERING = [
  ".git/hooks/pre-commit",
  ".git/config",
  "sub/.git",
  "AGENTS.md",
  "docs/CLAUDE.md",
  ".claude/settings.json",
  ".cursorrules",
  ".vscode/tasks.json",
  ".husky/pre-push",
  ".npmrc",
  "/home/ada/.bashrc",
  "~/.zshrc",
  "Agents.md",
];
const PLAIN = [
  "src/index.ts",
  ".env.example",
  "deploy/.env.sample",
  "environment.ts",
  "src/id_generator.py",
  "docs/agents.ts",
  ".gitignore",
  "keys.ts",
];

describe("a sensitive file", () => {
  it("is asked about where it is read or written, a file that steers where it is written, others are not", () => {
    for (const path of SECRETS) expect([path, reading(path), writing(path)]).toEqual([path, "ask", "ask"]);
    for (const path of STEERING) expect([path, reading(path), writing(path)]).toEqual([path, "allow", "ask"]);
    for (const path of PLAIN) expect([path, reading(path), writing(path)]).toEqual([path, "allow", "allow"]);
  });

  it("is, where it steers, whatever a sandbox keeps from being written", () => {
    const kept = [...STEERING_PATHS, ...GIT_STEERING_PATHS.map((path) => `.git/${path}`)].map((path) => path.replaceAll("*", "x"));
    for (const path of kept.flatMap((path) => [path, `a/b/${path}`, `a/${path}/c`, path.toUpperCase()]))
      expect([path, writing(path)]).toEqual([path, "ask"]);
  });

  it("is asked about in every mode but bypass-all; plan-only denies the writes, deny-unauthorized both", () => {
    const both = (mode: PermissionMode) => [reading(".env", { mode, allow: ["*"] }), writing("AGENTS.md", { mode, allow: ["*"] })];
    expect(both("default")).toEqual(["ask", "ask"]);
    expect(both("accept-edits")).toEqual(["ask", "ask"]);
    expect(both("plan-only")).toEqual(["ask", "deny"]);
    expect(both("deny-unauthorized")).toEqual(["deny", "deny"]);
    expect(both("bypass-all")).toEqual(["allow", "allow"]);
  });

  it("runs only by a rule that names exactly it, or exactly the call", () => {
    for (const mode of ["default", "deny-unauthorized"] as const) {
      const no = mode === "default" ? "ask" : "deny";
      for (const allow of [["read_file"], ["read_file(*)"], ["read_file(.e*)"], ["read_file(**/.env)"]])
        expect(reading(".env", { mode, allow })).toBe(no);
      expect(reading(".env", { mode, allow: ["read_file(.env)"] })).toBe("allow");
      expect(writing("AGENTS.md", { mode, allow: ["write_file(AGENTS.md)"] })).toBe("allow");
      expect(writing("AGENTS.md", { mode, allow: ["read_file(AGENTS.md)"] })).toBe(no);
    }
  });

  it("is the same through a command", () => {
    const cat: CallEffects = { commands: [{ text: "cat .env", readOnly: true }], reads: [".env"] };
    expect(decide(bash, cat)).toMatchObject({ behavior: "ask", reason: expect.stringContaining('it reads ".env"') });
    expect(decide(bash, cat, { allow: ["bash(cat*)"] }).behavior).toBe("ask");
    expect(decide(bash, cat, { allow: ["bash"] }).behavior).toBe("ask");
    expect(decide(bash, cat, { allow: ["bash(the line)"] }).behavior).toBe("allow");
    expect(decide(bash, cat, { allow: ["read_file(.env)"] }).behavior).toBe("allow");
    expect(decide(bash, { commands: [], writes: [".git/hooks/x"] }, { allow: ["bash"] }).behavior).toBe("ask");
    expect(decide(bash, cat, { mode: "deny-unauthorized", allow: ["bash"] }).behavior).toBe("deny");
  });

  it("is what a program adds, and nothing at all where it turns them off", () => {
    const sensitivePaths = { reads: ["secrets/**"], writes: ["deploy/**"] };
    expect([reading("secrets/a", { sensitivePaths }), writing("secrets/a", { sensitivePaths })]).toEqual(["ask", "allow"]);
    expect([reading("deploy/a", { sensitivePaths }), writing("deploy/a", { sensitivePaths })]).toEqual(["allow", "ask"]);
    expect(reading(".env", { sensitivePaths })).toBe("ask");
    expect([reading(".env", { sensitivePaths: false }), writing("AGENTS.md", { sensitivePaths: false })]).toEqual(["allow", "allow"]);
  });
});
