import { readdir, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { type Tool, ToolError, type ToolSource } from "@keelson/protocol";
import { checkOptionNames } from "../json/option-names.ts";
import { defineTool } from "../tools/index.ts";
import { findSkills, readBounded } from "./find-skills.ts";
import type { Skill } from "./skill.ts";

export interface SkillSourceOptions {
  /** Folders with skills, as in `.claude/skills`; an earlier one counts for more. */
  readonly folders: readonly string[];
  /** True for a skill that may be used. It is asked when the source is opened, and again when the skill is loaded. Default: all. */
  readonly accept?: ((skill: Skill) => boolean | Promise<boolean>) | undefined;
}

const TOOL_NAME = "load_skill";
const MAX_LISTED_CHARACTERS = 12_000;
const MAX_DESCRIPTION = 400;
const MAX_FILE_BYTES = 64 * 1024;
const MAX_FILES = 60;

/**
 * A source with one tool, `load_skill`: its description names each skill, and a call returns the text of one. So a model knows of many skills and
 * reads the ones that it needs. Without skills it offers nothing.
 *
 * ```ts
 * const agent = createAgent({ name: "helper", model, toolSources: [skillSource({ folders: ["skills"] })] });
 * ```
 */
export function skillSource(options: SkillSourceOptions): ToolSource {
  checkOptionNames("skillSource", options, { folders: true, accept: true });
  const { folders, accept = () => true } = options;
  if (!Array.isArray(folders) || !folders.every((folder) => typeof folder === "string"))
    throw new ToolError({
      kind: "invalid-definition",
      tool: TOOL_NAME,
      message: 'skillSource needs { folders }, a list of paths such as [".claude/skills"].',
    });
  return {
    name: "skills",
    // A skill that a run does not know yet at its first turn would be missed.
    startupWaitMs: 5_000,
    open() {
      let tools: readonly Tool[] = [];
      let problems: readonly string[] = [];
      const ready = (async () => {
        const found = await findSkills(folders);
        problems = found.problems.flatMap(({ file, message, isLeftOut }) => (isLeftOut ? [`${file} is not used: ${message}.`] : []));
        const accepted = await Promise.all(found.skills.map(async (skill) => !skill.isForPeople && (await accept(skill))));
        const skills = found.skills.filter((_skill, index) => accepted[index] === true);
        if (skills.length > 0) tools = [skillTool(skills, folders, accept)];
      })().catch(
        (error: unknown) => void (problems = [`Skills cannot be read: ${error instanceof Error ? error.message : String(error)}`]),
      );
      return { tools: () => tools, ready, startupWaitMs: 5_000, problems: () => problems, async [Symbol.asyncDispose]() {} };
    },
  };
}

function skillTool(skills: readonly Skill[], folders: readonly string[], accept: NonNullable<SkillSourceOptions["accept"]>): Tool {
  const names = new Set(skills.map(({ name }) => name));
  return defineTool<{ readonly name: string; readonly file?: string }>({
    name: TOOL_NAME,
    description: `Load a skill: instructions for one kind of work. Load the skill that fits the task before you begin. With \`file\` load one of its files.\nSkills:\n${listed(skills)}`,
    effect: "read",
    aliases: ["Skill", "skill"],
    input: {
      type: "object",
      properties: {
        name: { type: "string", description: "The name of the skill." },
        file: { type: "string", description: "A file of the skill, relative to its folder." },
      },
      required: ["name"],
      additionalProperties: false,
    },
    async execute({ name, file }) {
      if (!names.has(name)) throw failure(`There is no skill ${JSON.stringify(name)}. There are: ${[...names].join(", ")}.`);
      // Read anew: the file may have changed, also by the agent itself.
      const skill = (await findSkills(folders)).skills.find((one) => one.name === name);
      if (skill === undefined || !(await accept(skill)))
        throw failure(`The skill ${name} was changed since this run began, and may not be used as it is now. Work without it.`);
      return file === undefined ? textOf(skill) : fileOf(skill, file);
    },
  });
}

/** A line for each skill. Skills that do not fit are named without their descriptions. */
function listed(skills: readonly Skill[]): string {
  let left = MAX_LISTED_CHARACTERS;
  const more: string[] = [];
  const lines = skills.flatMap(({ name, description }) => {
    const short = description.length > MAX_DESCRIPTION ? `${description.slice(0, MAX_DESCRIPTION)}…` : description;
    const line = `- ${name}: ${short}`;
    if (line.length > left) {
      more.push(name);
      return [];
    }
    left -= line.length;
    return [line];
  });
  return [...lines, ...(more.length > 0 ? [`Others, without description: ${more.join(", ")}`] : [])].join("\n");
}

async function textOf({ name, folder, text }: Skill): Promise<string> {
  const files = await filesIn(folder);
  const shown =
    Buffer.byteLength(text) <= MAX_FILE_BYTES
      ? text
      : `${text.slice(0, MAX_FILE_BYTES)}\n[The skill is longer: load it with file: "SKILL.md" or read ${join(folder, "SKILL.md")}.]`;
  return [`Skill ${name}, in ${folder}`, shown, ...(files.length > 0 ? [`Files of the skill: ${files.join(", ")}`] : [])].join("\n\n");
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter((path) => path !== "SKILL.md")
    .toSorted();
  return files.length <= MAX_FILES ? files : [...files.slice(0, MAX_FILES), `and ${files.length - MAX_FILES} more`];
}

async function fileOf({ name, folder }: Skill, file: string): Promise<string> {
  const root = await realpath(folder);
  const real = await realpath(resolve(root, file)).catch(() => undefined);
  if (real === undefined)
    throw failure(`The skill ${name} has no file ${JSON.stringify(file)}. It has: ${(await filesIn(folder)).join(", ") || "none"}.`);
  const inside = relative(root, real);
  if (isAbsolute(inside) || inside.split(sep)[0] === "..")
    throw failure(`${JSON.stringify(file)} is not in the folder of the skill ${name}.`);
  const text = await readBounded(real, MAX_FILE_BYTES);
  if (text === undefined) throw failure(`${JSON.stringify(file)} is no file.`);
  if (typeof text !== "string") throw failure(`${JSON.stringify(file)} is not loaded: ${text.problem}.`);
  return text;
}

function failure(message: string): ToolError {
  return new ToolError({ kind: "execution-failed", tool: TOOL_NAME, message });
}
