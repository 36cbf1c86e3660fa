import { describe, expect, it } from "vitest";
import { readSettings } from "./read-settings.ts";
import type { SettingsEntry } from "./settings-entry.ts";

const read = (settings: unknown): readonly SettingsEntry[] => readSettings(JSON.stringify(settings));
const only = (settings: unknown): SettingsEntry => {
  const entries = read(settings);
  expect(entries).toHaveLength(1);
  return entries[0] as SettingsEntry;
};
const rules = (settings: unknown) => read(settings).flatMap(({ values }) => values?.rules ?? []);

describe("readSettings", () => {
  it("reads rules in Claude's spelling and in ours, with comments in the file", () => {
    const text = `{
      // what may be touched
      "permissions": {
        "allow": ["Bash(npm run test:*)", "bash(ls *)", "WebFetch(domain:example.com)"],
        "deny": ["Read(~/.zshrc)", "read_file(secrets/**)", "mcp__git__push"],
        "ask": ["Edit",],
      },
    }`;
    const home = process.env["HOME"];
    expect(readSettings(text).flatMap(({ values }) => values?.rules ?? [])).toEqual([
      { pattern: "bash(npm run test *)", behavior: "allow" },
      { pattern: "bash(ls *)", behavior: "allow" },
      { pattern: "web_fetch(example.com)", behavior: "allow" },
      ...[`read_file(${home}/.zshrc)`, `read_file(${home}/.zshrc/**)`, "read_file(~/.zshrc)", "read_file(~/.zshrc/**)"].map((pattern) => ({
        pattern,
        behavior: "deny",
      })),
      { pattern: "read_file(secrets/**)", behavior: "deny" },
      { pattern: "mcp__git__push", behavior: "deny" },
      { pattern: "edit_file(**)", behavior: "ask" },
    ]);
  });

  it("lets rules that deny and ask confine, and everything else open", () => {
    const kinds = read({
      permissions: {
        allow: ["Bash(ls)"],
        deny: ["Read(./.env)"],
        ask: ["Bash(git push:*)"],
        defaultMode: "acceptEdits",
        additionalDirectories: ["../b"],
      },
      env: { CI: "1" },
      model: "claude-sonnet-5",
      effortLevel: "high",
      hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "./check.sh" }] }] },
    }).map(({ entry, kind }) => [entry, kind]);
    expect(kinds).toEqual([
      ["permissions.allow Bash(ls)", "opens"],
      ["permissions.deny Read(./.env)", "confines"],
      ["permissions.ask Bash(git push:*)", "confines"],
      ["permissions.defaultMode acceptEdits", "opens"],
      ["permissions.additionalDirectories ../b", "opens"],
      ["env CI", "opens"],
      ["model claude-sonnet-5", "opens"],
      ["effortLevel high", "opens"],
      ["hooks", "opens"],
    ]);
  });

  it("names each setting that is not used, with the reason, and marks those that were to confine", () => {
    expect(only({ statusLine: { type: "command", command: "./line.sh" } })).toMatchObject({ kind: "unused", entry: "statusLine" });
    expect(only({ cleanupPeriodDays: 30 }).reason).toContain("sessions prune --older-than");
    expect(only({ somethingNew: { token: "s3cr3t" } })).toEqual({
      entry: "somethingNew",
      kind: "unused",
      reason: "it is not known here, and was passed over",
    });
    expect(only({ constructor: 1 }).kind).toBe("unused");
    expect(only({ sandbox: { enabled: true } })).toMatchObject({ kind: "unused", isGuard: true });
    expect(only({ permissions: { deny: ["Bash(rm"] } })).toMatchObject({
      kind: "unused",
      isGuard: true,
      entry: "permissions.deny Bash(rm",
    });
    expect(only({ permissions: { deny: [7] } })).toMatchObject({ kind: "unused", isGuard: true });
    expect(only({ permissions: { deny: "Bash" } })).toMatchObject({ kind: "unused", isGuard: true });
    expect(only({ permissions: [] })).toMatchObject({ kind: "unused", isGuard: true });
    expect(only({ permissions: { deny: ["WebSearch"] } })).toMatchObject({ kind: "unused", isGuard: true });
    expect(only({ permissions: { allow: ["WebSearch"] } })).not.toHaveProperty("isGuard");
    for (const text of ["{", "[]", "null", "7"])
      expect(readSettings(text)).toMatchObject([{ entry: "the file", kind: "unused", isGuard: true }]);
  });

  it("takes no rule beside one that is not understood, and keeps the others", () => {
    expect(rules({ permissions: { deny: ["Bash(rm", "Read(./a)", "read_file(("] } }).map(({ pattern }) => pattern)).toEqual([
      ...["read_file(a)", "read_file(a/**)"],
    ]);
  });

  it("switches no questions off, whichever word a file has for that", () => {
    for (const mode of ["bypassPermissions", "bypass-all"])
      expect(only({ permissions: { defaultMode: mode } })).toMatchObject({
        kind: "unused",
        reason: expect.stringContaining("--permission-mode"),
      });
  });

  it("gives commands no secret and no variable of Claude Code, and shows no value", () => {
    const entries = read({
      env: {
        "API_TOKEN": "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
        "ANTHROPIC_API_KEY": "sk-ant-1",
        "DISABLE_TELEMETRY": "1",
        "PATH": "/x",
        "A-B": "c",
        "N": 1,
        "MODE": "fast",
      },
    });
    expect(entries.map(({ entry, kind }) => [entry, kind])).toEqual([
      ["env API_TOKEN", "unused"],
      ["env ANTHROPIC_API_KEY", "unused"],
      ["env DISABLE_TELEMETRY", "unused"],
      ["env PATH", "unused"],
      ["env A-B", "unused"],
      ["env N", "unused"],
      ["env MODE", "opens"],
    ]);
    expect(JSON.stringify(entries.map(({ entry, reason }) => [entry, reason]))).not.toMatch(/ghp_|sk-ant/);
  });

  it("reads a model with its provider, gives Claude's its provider, and refuses a nickname", () => {
    const model = (name: unknown) => only({ model: name }).values?.model;
    expect([model("claude-sonnet-5"), model("openai/gpt-5.4"), model("opus"), model("sonnet[1m]"), model("gpt-5.4"), model(5)]).toEqual([
      ...["anthropic/claude-sonnet-5", "openai/gpt-5.4", undefined, undefined, undefined, undefined],
    ]);
  });

  it("reads whether the terminal shows notifications, and refuses any other word", () => {
    const notifications = (value: unknown) => only({ notifications: value });
    expect([notifications("off").values, notifications("on").values]).toEqual([{ notifications: "off" }, { notifications: "on" }]);
    expect(notifications(false)).toMatchObject({ kind: "unused", reason: 'it must be "on" or "off"' });
  });

  it("names hooks that are not run here, and runs the others", () => {
    const command = { type: "command", command: "./a.sh" };
    const entries = read({
      hooks: { PreToolUse: [{ hooks: [command, { type: "prompt", prompt: "ok?" }] }], UserPromptSubmit: [{ hooks: [command] }] },
    });
    expect(entries.map(({ kind, isGuard = false }) => [kind, isGuard])).toEqual([
      ["opens", false],
      ["unused", true],
      ["unused", true],
    ]);
    expect(only({ hooks: { PreToolUse: [{ matcher: "(", hooks: [command] }] } })).toMatchObject({ kind: "unused", isGuard: true });
    expect(read({ hooks: { PreToolUse: [{ hooks: [command] }] }, disableAllHooks: true }).map(({ values }) => values?.hooks)).toEqual([
      undefined,
      undefined,
    ]);
  });

  it("reads the choices of a person for the terminal, also in Claude's spelling", () => {
    const chosen = (settings: unknown) => {
      const { kind, values } = only(settings);
      return [kind, values];
    };
    expect(chosen({ theme: "light" })).toEqual(["person", { theme: "light" }]);
    expect(chosen({ theme: "dark-daltonized" })).toEqual(["person", { theme: "dark" }]);
    expect(chosen({ theme: "light-ansi" })).toEqual(["person", { theme: "ansi" }]);
    expect(chosen({ notifications: "off" })).toEqual(["person", { notifications: "off" }]);
    expect(chosen({ notifications: "on" })).toEqual(["person", { notifications: "on" }]);
    expect(chosen({ screenReader: true })).toEqual(["person", { screenReader: true }]);
  });

  it("names the choices that there are if one of the terminal is not understood", () => {
    expect(only({ theme: "solarized" })).toEqual({
      entry: "theme solarized",
      kind: "unused",
      reason: "it must be one of auto, dark, light, ansi, none",
    });
    expect(only({ theme: "constructor" }).kind).toBe("unused");
    expect(only({ notifications: false }).reason).toBe('it must be "on" or "off"');
    expect(only({ screenReader: "yes" }).reason).toBe("it must be true or false");
    expect(only({ editorMode: "vim" }).kind).toBe("unused");
  });
});
