import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { listHooks } from "./listed-hooks.ts";
import { hookItems } from "./project-hooks.ts";
import { createProjectTrust, trustItems } from "./project-trust.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "keelson-hooks-")));
  for (const folder of ["project", "home", "person"]) mkdirSync(join(base, folder));
});
afterEach(() => rmSync(base, { recursive: true }));

const put = (path: string, value: unknown) => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), typeof value === "string" ? value : JSON.stringify(value));
};
const hook = (event: string, command: string) => ({ hooks: { [event]: [{ hooks: [{ type: "command", command }] }] } });
const home = () => ({ trust: join(base, "home/trust.jsonl") });
const list = async () => {
  const trust = createProjectTrust(home(), join(base, "project"));
  const hooks = await listHooks({ home: join(base, "home"), environment: { HOME: join(base, "person") }, trust });
  return hooks.map(({ when, command, file, state }) => [when, command, file.slice(base.length + 1), state]);
};

it("lists the hooks of the person and of the project, those that are not trusted included", async () => {
  put("home/settings.json", hook("PostToolUse", "say done"));
  put("project/.claude/settings.json", hook("PreToolUse", "./check.sh"));
  put("project/.keelson/hooks.json", hook("SessionStart", "./begin.sh"));
  expect(await list()).toEqual([
    ["PostToolUse", "say done", "home/settings.json", "own"],
    ["PreToolUse", "./check.sh", "project/.claude/settings.json", "untrusted"],
    ["SessionStart", "./begin.sh", "project/.keelson/hooks.json", "untrusted"],
  ]);
  await trustItems(home(), join(base, "project"), await hookItems(join(base, "project")), 0);
  expect((await list()).map(([, command, , state]) => [command, state])).toEqual([
    ["say done", "own"],
    ["./check.sh", "untrusted"],
    ["./begin.sh", "trusted"],
  ]);
});

it("names a file of hooks that cannot be read", async () => {
  put("project/.keelson/hooks.json", "{");
  expect(await list()).toEqual([["(the file is no JSON)", "", "project/.keelson/hooks.json", "untrusted"]]);
});
