import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createProjectTrust, trustItems } from "../trust/project-trust.ts";
import { skillItems } from "../trust/skill-items.ts";
import { foundSkills, openSkills } from "./project-skills.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "keelson-project-skills-")));
  mkdirSync(join(base, "repo"));
});
afterEach(() => rmSync(base, { recursive: true }));
const put = (path: string, text: string) => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
};
const skill = (description: string) => `---\ndescription: ${description}\n---\nDo it so.`;
const folders = () => ({ home: join(base, "home"), userHome: join(base, "ada"), project: join(base, "repo") });
const trust = () => createProjectTrust({ trust: join(base, "trust.jsonl") }, folders().project);
const accept = async () => trustItems({ trust: join(base, "trust.jsonl") }, folders().project, await skillItems(folders().project), 0);

async function offered(): Promise<{ readonly description: string; readonly left: readonly string[] }> {
  const left: string[] = [];
  const source = await openSkills(folders(), trust(), ({ path }) => void left.push(path));
  const opened = await source?.open({} as never);
  await opened?.ready;
  return { description: opened?.tools()[0]?.description ?? "", left };
}

it("offers the person's own skills, and those of a project once they are trusted, with all of their files", async () => {
  expect((await offered()).description).toBe("");
  put("ada/.claude/skills/mine/SKILL.md", skill("my way"));
  put("repo/.claude/skills/theirs/SKILL.md", skill("their way"));
  put("repo/.claude/skills/theirs/steps.md", "step");
  expect(await offered()).toEqual({ description: expect.not.stringContaining("their way"), left: [".claude/skills/theirs/SKILL.md"] });
  await accept();
  const { description, left } = await offered();
  expect([description.includes("- mine: my way"), description.includes("- theirs: their way"), left]).toEqual([true, true, []]);
  put("repo/.claude/skills/theirs/steps.md", "another step");
  expect((await offered()).left).toEqual([".claude/skills/theirs/SKILL.md"]);
});

it("does not let a project replace a skill of the person, or lead out of the project, and says so", async () => {
  put("ada/.claude/skills/review/SKILL.md", skill("mine"));
  put("repo/.claude/skills/review/SKILL.md", skill("theirs"));
  put("elsewhere/out/SKILL.md", skill("outside"));
  mkdirSync(join(base, "repo/.keelson/skills"), { recursive: true });
  symlinkSync(join(base, "elsewhere/out"), join(base, "repo/.keelson/skills/out"));
  await accept();
  expect((await offered()).description).toMatch(/- review: mine$/);
  const found = (await foundSkills(folders(), trust())).map(({ file, isUsed, reason }) => [file.slice(base.length + 1), isUsed, reason]);
  expect(found).toEqual([
    ["ada/.claude/skills/review/SKILL.md", true, "the skill review"],
    ["repo/.keelson/skills/out/SKILL.md", false, expect.stringContaining("leads out of the project")],
    ["repo/.claude/skills/review/SKILL.md", false, expect.stringContaining("is used already")],
  ]);
});
