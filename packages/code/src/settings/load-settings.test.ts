import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createProjectTrust, trustAll, trustItems } from "../trust/project-trust.ts";
import { settingsItems } from "../trust/settings-items.ts";
import { loadSettings } from "./load-settings.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "keelson-settings-")));
  for (const folder of ["project", "home", "person"]) mkdirSync(join(base, folder));
});
afterEach(() => rmSync(base, { recursive: true }));

const put = (path: string, value: unknown) => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), typeof value === "string" ? value : JSON.stringify(value));
};
const project = () => join(base, "project");
const home = () => ({ trust: join(base, "home/trust.jsonl") });
const load = (trust = createProjectTrust(home(), project())) =>
  loadSettings({ home: join(base, "home"), environment: { HOME: join(base, "person") }, trust });
const accept = async () => trustItems(home(), project(), await settingsItems(project()), 0);
const patterns = async () => (await load()).values.rules.map(({ behavior, pattern }) => `${behavior} ${pattern}`);

describe("loadSettings", () => {
  it("joins the files of the person and of the project, and counts the nearest", async () => {
    put("person/.claude/settings.json", {
      model: "claude-a-1",
      env: { ONE: "person", TWO: "person" },
      permissions: { allow: ["Bash(a)"] },
    });
    put("home/settings.json", { model: "openai/b", permissions: { allow: ["bash(b)"] } });
    put("project/.claude/settings.json", { env: { TWO: "project" }, permissions: { deny: ["Bash(c)"] } });
    put("project/.keelson/settings.local.json", { model: "openai/d", effort: "low" });
    const { values, leftOut } = await load(trustAll(project()));
    expect(values).toEqual({
      model: "openai/d",
      effort: "low",
      variables: { ONE: "person", TWO: "project" },
      folders: [],
      rules: [
        { pattern: "bash(a)", behavior: "allow" },
        { pattern: "bash(b)", behavior: "allow" },
        { pattern: "bash(c)", behavior: "deny" },
      ],
    });
    expect(leftOut).toEqual([]);
  });

  it("uses what confines before trust, what opens after it, and asks again after a change", async () => {
    put("project/.claude/settings.json", { permissions: { allow: ["Bash(ls)"], deny: ["Bash(rm:*)"] }, model: "openai/x" });
    expect(await patterns()).toEqual(["deny bash(rm *)"]);
    const { found, leftOut, values } = await load();
    expect(values.model).toBeUndefined();
    expect(leftOut.map(({ path, kind }) => [path, kind])).toEqual([[".claude/settings.json", "settings"]]);
    expect(found.find(({ entry }) => entry?.startsWith("model"))).toMatchObject({
      isUsed: false,
      reason: "not trusted as it is: keelson trust accept .claude/settings.json",
    });
    await accept();
    expect(await patterns()).toEqual(["allow bash(ls)", "deny bash(rm *)"]);
    put("project/.claude/settings.json", { permissions: { allow: ["Bash"], deny: ["Bash(rm:*)"] } });
    expect(await patterns()).toEqual(["deny bash(rm *)"]);
  });

  it("asks about no file that only confines or says what is not used", async () => {
    put("project/.claude/settings.json", { permissions: { deny: ["Bash(rm:*)"] }, statusLine: {} });
    expect(await settingsItems(project())).toEqual([]);
    expect((await load()).leftOut).toEqual([]);
  });

  it("asks again when a script that a hook runs has changed, also one that it names by the folder of the project", async () => {
    put("project/.claude/hooks/check.sh", "#!/bin/sh\ntrue\n");
    put("project/.claude/settings.json", {
      hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: '"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh' }] }] },
    });
    const [item] = await settingsItems(project());
    expect(item?.shows.join("\n")).toContain(".claude/hooks/check.sh");
    await accept();
    expect((await load()).hooks).toHaveLength(1);
    put("project/README.md", "another file");
    expect((await load()).hooks).toHaveLength(1);
    put("project/.claude/hooks/check.sh", "#!/bin/sh\ncurl example.com\n");
    expect((await load()).hooks).toEqual([]);
  });

  it("shows a person the values of variables that a project would set", async () => {
    put("project/.claude/settings.json", { env: { NODE_OPTIONS: "--require ./x.js" } });
    expect((await settingsItems(project()))[0]?.shows.join("\n")).toMatch(
      /env NODE_OPTIONS=--require \.\/x\.js[\s\S]*cannot tell which files/,
    );
  });

  it("takes folders that exist, relative to the project or below the home folder", async () => {
    mkdirSync(join(base, "shared"));
    mkdirSync(join(base, "person/notes"));
    put("person/.claude/settings.json", { permissions: { additionalDirectories: ["../shared", "~/notes", "/nowhere/at/all"] } });
    const { values, found } = await load();
    expect(values.folders).toEqual([join(base, "shared"), join(base, "person/notes")]);
    expect(found.find(({ entry }) => entry?.endsWith("/nowhere/at/all"))).toMatchObject({
      isUsed: false,
      reason: "there is no folder /nowhere/at/all",
    });
  });

  it("refuses the person's own settings if they are no JSON, and reports those of others", async () => {
    put("person/.claude/settings.json", "{");
    put("project/.claude/settings.json", "nonsense");
    expect((await load()).found.map(({ file, isUsed, isGuard }) => [file.slice(base.length), isUsed, isGuard])).toEqual([
      ["/person/.claude/settings.json", false, true],
      ["/project/.claude/settings.json", false, true],
    ]);
    put("home/settings.json", "{");
    await expect(load()).rejects.toThrow(/home\/settings\.json are not understood: it is no JSON/);
  });

  it("follows no link of a project that leads out of it", async () => {
    put("person/other.json", { permissions: { allow: ["Bash"] } });
    mkdirSync(join(base, "project/.claude"));
    symlinkSync(join(base, "person/other.json"), join(base, "project/.claude/settings.json"));
    const { values, found } = await load(trustAll(project()));
    expect(values.rules).toEqual([]);
    expect(found[0]).toMatchObject({ isUsed: false, reason: expect.stringContaining("leads out of the project") });
  });

  it("uses a person's choices for the terminal from their own files alone, and asks for no trust for those of a project", async () => {
    put("person/.claude/settings.json", { theme: "dark" });
    put("home/settings.json", { notifications: "off" });
    put("project/.claude/settings.json", { theme: "light", screenReader: true });
    const { values, found, leftOut } = await load(trustAll(project()));
    expect([values.theme, values.notifications, values.screenReader]).toEqual(["dark", "off", undefined]);
    expect(leftOut).toEqual([]);
    expect(await settingsItems(project())).toEqual([]);
    expect(found.find(({ entry }) => entry === "theme light")).toMatchObject({
      isUsed: false,
      reason: "it is about the terminal of a person: write it into settings.json of the home folder of Keelson",
    });
  });
});
