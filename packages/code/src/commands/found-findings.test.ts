import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { foundFindings } from "./found-findings.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "keelson-found-")));
  mkdirSync(join(base, "project/.git"), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true }));
const put = (path: string, text: string) => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
};
const findings = async () =>
  (await foundFindings(join(base, "project"), { environment: { HOME: join(base, "ada"), KEELSON_HOME: join(base, "home") } })).map(
    ({ what, state, detail }) => `${state} ${what} ${detail}`,
  );

it("lists each setting with its file and the reason why it is used or not", async () => {
  put("ada/.claude/settings.json", '{ "model": "opus", "permissions": { "deny": ["Read(./.env)", "WebSearch"] } }');
  put("project/.claude/settings.json", '{ "permissions": { "allow": ["Bash(ls)"] }, "unheardOf": 1 }');
  expect(await findings()).toEqual([
    expect.stringMatching(/^missing ~\/\.claude\/settings\.json not used: model opus: it is a nickname/),
    expect.stringMatching(/^ok ~\/\.claude\/settings\.json permissions\.deny Read\(\.\/\.env\): deny rule read_file\(\.env\)/),
    expect.stringMatching(
      /^missing ~\/\.claude\/settings\.json not used, though it was to confine the agent: permissions\.deny WebSearch: /,
    ),
    "missing .claude/settings.json not used: permissions.allow Bash(ls): not trusted as it is: keelson trust accept .claude/settings.json",
    "missing .claude/settings.json not used: unheardOf: it is not known here, and was passed over",
  ]);
});

it("lists each file of instructions, also below the folder and those that are not read", async () => {
  put("project/AGENTS.md", "same");
  put("project/CLAUDE.md", "same");
  put("project/packages/a/CLAUDE.md", "Use tabs.");
  put("ada/.claude/CLAUDE.md", "mine");
  expect(await findings()).toEqual([
    "ok ~/.claude/CLAUDE.md instructions to the agent",
    "missing CLAUDE.md not used: not trusted as it is: keelson trust accept",
    "missing AGENTS.md not used: not trusted as it is: keelson trust accept",
    "missing packages/a/CLAUDE.md not used: not trusted as it is: keelson trust accept packages/a/CLAUDE.md",
  ]);
});

it("lists skills, commands and files of other agents, each with the reason", async () => {
  put("ada/.claude/skills/pdf/SKILL.md", "---\ndescription: read PDF files\n---\nUse pdftotext.");
  put("project/.claude/skills/theirs/SKILL.md", "---\ndescription: their way\n---\nDo it.");
  put("project/.claude/commands/fix.md", "Fix it.");
  put("project/.cursor/mcp.json", "{}");
  expect(await findings()).toEqual([
    "ok ~/.claude/skills/pdf/SKILL.md the skill pdf",
    "missing .claude/skills/theirs/SKILL.md not used: not trusted as it is: keelson trust accept .claude/skills/theirs/SKILL.md",
    "missing .claude/commands/fix.md not used: not trusted as it is: keelson trust accept .claude/commands/fix.md",
    expect.stringMatching(/^missing \.cursor\/mcp\.json not used: its servers are not used: copy/),
  ]);
});
