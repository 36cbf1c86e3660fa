import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createAgent, createRunner } from "keelson";
import { scriptedModel } from "keelson/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findSkills } from "./find-skills.ts";
import { skillSource, type SkillSourceOptions } from "./skill-source.ts";

let base: string;
beforeEach(() => void (base = realpathSync(mkdtempSync(join(tmpdir(), "keelson-skills-")))));
afterEach(() => rmSync(base, { recursive: true }));
const put = (path: string, text: string) => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
};
const skill = (description: string, text = "Do it so.") =>
  `---\nname: ${description.split(" ")[0]}\ndescription: ${description}\n---\n${text}`;

async function load(options: Partial<SkillSourceOptions>, ...inputs: readonly object[]) {
  const source = await skillSource({ folders: [join(base, "a"), join(base, "b")], ...options }).open({} as never);
  await source.ready;
  const [tool] = source.tools();
  const outputs: string[] = [];
  for (const input of inputs)
    outputs.push(
      await Promise.resolve(tool?.execute(input as never, { signal: new AbortController().signal } as never)).then(
        String,
        (error: Error) => error.message,
      ),
    );
  return { description: tool?.description ?? "", outputs, problems: source.problems?.() ?? [] };
}

describe("skillSource", () => {
  it("names each skill to the model, which loads the text of one when it needs it", async () => {
    put("a/pdf/SKILL.md", skill("pdf files are read so", "Use pdftotext."));
    put("a/pdf/scripts/run.py", "print()");
    const model = scriptedModel([{ toolCalls: [{ name: "load_skill", input: { name: "pdf" } }] }, "done"]);
    const agent = createAgent({ name: "a", model, toolSources: [skillSource({ folders: [join(base, "a")] })] });
    const outcome = await createRunner({ agent }).run("read it").outcome;
    expect(outcome.reason).toBe("complete");
    const [first, second] = model.requests;
    expect(JSON.stringify(first?.tools)).toContain("- pdf: pdf files are read so");
    expect(JSON.stringify(first)).not.toContain("pdftotext");
    expect(JSON.stringify(second?.messages)).toContain("Use pdftotext.");
    expect(JSON.stringify(second?.messages)).toContain("scripts/run.py");
  });

  it("offers nothing without skills", async () => {
    expect(await load({})).toEqual({ description: "", outputs: [], problems: [] });
  });

  it("uses the skill of the earlier folder, and reports the other and those that are none", async () => {
    put("a/one/SKILL.md", skill("same first"));
    put("b/two/SKILL.md", skill("same second"));
    put("b/none/SKILL.md", "no description");
    put("b/bad/SKILL.md", "---\nname: Ünfit name\ndescription: x\n---\nbody");
    const { description, problems } = await load({});
    expect(description).toContain("same first");
    expect(description).not.toContain("same second");
    expect(problems).toEqual([
      expect.stringContaining("bad/SKILL.md is not used: the name"),
      expect.stringContaining("none/SKILL.md is not used: it has no description"),
      expect.stringContaining("two/SKILL.md is not used: a skill of the name same is used already"),
    ]);
  });

  it("asks whether a skill is accepted again when it is loaded, and reads it anew", async () => {
    put("a/x/SKILL.md", skill("x works", "old"));
    let isAccepted = true;
    const source = await skillSource({ folders: [join(base, "a")], accept: () => isAccepted }).open({} as never);
    await source.ready;
    const call = () =>
      Promise.resolve(source.tools()[0]?.execute({ name: "x" } as never, {} as never)).then(String, (error: Error) => error.message);
    put("a/x/SKILL.md", skill("x works", "new"));
    expect(await call()).toContain("new");
    isAccepted = false;
    expect(await call()).toMatch(/was changed since this run began/);
  });

  it("loads a file of a skill, and none from outside of its folder", async () => {
    put("a/x/SKILL.md", skill("x works"));
    put("a/x/notes/more.md", "more");
    put("secret", "secret");
    symlinkSync(join(base, "secret"), join(base, "a/x/link"));
    put("a/x/long", "x".repeat(100_000));
    const files = ["notes/more.md", "../../secret", join(base, "secret"), "link", "none", "notes", "long"];
    const { outputs } = await load({}, ...files.map((file) => ({ name: "x", file })), { name: "y" });
    expect(outputs[0]).toBe("more");
    for (const output of outputs.slice(1)) expect(output).not.toMatch(/^secret$/);
    expect(outputs.slice(1, 4).every((output) => output.includes("is not in the folder"))).toBe(true);
    expect(outputs.slice(4)).toEqual([
      expect.stringContaining("has no file"),
      expect.stringContaining("is no file"),
      expect.stringContaining("longer than"),
      'There is no skill "y". There are: x.',
    ]);
  });

  it("keeps the list of many skills short, and names those that do not fit", async () => {
    for (let at = 0; at < 80; at++) put(`a/s${at}/SKILL.md`, `---\ndescription: ${"word ".repeat(100)}\n---\nbody`);
    const { description } = await load({});
    expect(description.length).toBeLessThan(14_000);
    expect(description).toMatch(/Others, without description: .*s9/);
  });

  it("does not tell the model of a skill that only people may call for, and keeps what its author allowed apart", async () => {
    put("a/x/SKILL.md", "---\ndescription: x\ndisable-model-invocation: true\n---\nbody");
    put("a/y/SKILL.md", "---\ndescription: y\nallowed-tools: Read, Bash(git:*)\nodd: 1\n---\nbody");
    expect((await load({})).description).not.toContain("- x:");
    const { skills, problems } = await findSkills([join(base, "a")]);
    expect(skills.find(({ name }) => name === "y")?.allowedTools).toEqual(["Read", "Bash(git:*)"]);
    expect(problems).toEqual([
      { file: join(base, "a/y/SKILL.md"), message: "the field odd is not known and was passed over", isLeftOut: false },
    ]);
  });
});
