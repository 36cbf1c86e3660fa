import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createStyle } from "../text/style.ts";
import { commandItems } from "../trust/command-items.ts";
import { createProjectTrust, trustItems } from "../trust/project-trust.ts";
import { expandTask, foundCommands, markdownCommands } from "./find-markdown-commands.ts";
import type { Prompt } from "./slash-command.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "keelson-commands-")));
  mkdirSync(join(base, "repo"));
});
afterEach(() => rmSync(base, { recursive: true }));
const put = (path: string, text: string) => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
};
const folders = () => ({ home: join(base, "home"), userHome: join(base, "ada"), project: join(base, "repo") });
const home = () => ({ trust: join(base, "trust.jsonl") });
const trust = () => createProjectTrust(home(), folders().project);
const accept = async () => trustItems(home(), folders().project, await commandItems(folders().project), 0);

async function type(name: string, argument = ""): Promise<{ readonly sent: readonly string[]; readonly shown: readonly string[] }> {
  const sent: string[] = [];
  const prompt = { style: createStyle(false), send: (text: string) => void sent.push(text) } as unknown as Prompt;
  const command = (await markdownCommands(folders(), trust())).find((one) => one.name === name || one.aliases?.includes(name));
  return { sent, shown: (await command?.execute(argument, prompt)) ?? [] };
}

it("sends the text of the person's own command, and of a project's once it is trusted, as it was then", async () => {
  put("ada/.claude/commands/mine.md", "My $1.");
  put("repo/.claude/commands/web/fix.md", "Fix $ARGUMENTS.");
  expect((await type("mine", "way")).sent).toEqual(["My way."]);
  expect(await type("web:fix", "it")).toEqual({
    sent: [],
    shown: [expect.stringMatching(/nobody trusts \.claude\/commands\/web\/fix\.md as it is: keelson trust accept/)],
  });
  await accept();
  expect((await type("web:fix", "it")).sent).toEqual(["Fix it."]);
  expect((await type("fix", "it")).sent).toEqual(["Fix it."]);
  put("repo/.claude/commands/web/fix.md", "Delete $ARGUMENTS.");
  expect((await type("web:fix", "it")).sent).toEqual([]);
});

it("lists each file with the reason why it is used or not", async () => {
  put("home/commands/fix.md", "---\nmodel: opus\n---\nMine.");
  put("repo/.claude/commands/fix.md", "Theirs.");
  put("repo/.claude/commands/go.md", "Go.");
  put("repo/.claude/commands/empty.md", "");
  put("secret.md", "secret");
  symlinkSync(join(base, "secret.md"), join(base, "repo/.claude/commands/link.md"));
  const found = (await foundCommands(folders(), trust())).map(({ file, isUsed, reason }) => [file.slice(base.length + 1), isUsed, reason]);
  expect(found).toEqual([
    ["home/commands/fix.md", true, "the command /fix; model is not used: /model changes the model"],
    ["repo/.claude/commands/empty.md", false, expect.stringContaining("it is empty")],
    ["repo/.claude/commands/fix.md", false, "another file has the command /fix"],
    ["repo/.claude/commands/go.md", false, "not trusted as it is: keelson trust accept .claude/commands/go.md"],
    ["repo/.claude/commands/link.md", false, expect.stringContaining("leads out of the project")],
  ]);
});

it("expands a task that names a command, and leaves others as they are", async () => {
  put("ada/.claude/commands/review.md", "Review $1.");
  put("repo/.claude/commands/other.md", "Other.");
  expect(await expandTask("/review src", folders(), trust())).toBe("Review src.");
  for (const task of ["/etc/hosts is wrong", "/unknown x", "review"]) expect(await expandTask(task, folders(), trust())).toBe(task);
  await expect(expandTask("/other", folders(), trust())).rejects.toThrow(/nobody trusts/);
});
