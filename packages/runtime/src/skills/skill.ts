import { basename, dirname } from "node:path";
import { parseFrontMatter, splitList } from "./front-matter.ts";

/** A text that tells a model how to do one kind of work, and that it reads when it needs it. */
export interface Skill {
  /** Small letters, digits and hyphens. */
  readonly name: string;
  /** The work that it is for: this is all that the model knows before it loads the skill. */
  readonly description: string;
  /** The path of its `SKILL.md`. */
  readonly file: string;
  /** The folder of its files. */
  readonly folder: string;
  /** The instructions, without the fields. */
  readonly text: string;
  /** The tools that its author had in mind. It is no permission. */
  readonly allowedTools: readonly string[];
  /** True if only a person may call for it: the model is not told of it. */
  readonly isForPeople: boolean;
  /** Fields that are not understood. */
  readonly problems: readonly string[];
}

const MAX_NAME = 64;
const NAME = /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/i;
const KNOWN = new Set([
  "name",
  "description",
  "allowed-tools",
  "disable-model-invocation",
  "user-invocable",
  "license",
  "metadata",
  "version",
  "compatibility",
]);

/**
 * Reads the text of a `SKILL.md`.
 * @param file the path of the file; the name of its folder is the name of a skill that has none
 * @returns the skill, or the reason why it is none
 */
export function readSkill(text: string, file: string): Skill | { readonly problem: string } {
  const { fields, body, problems } = parseFrontMatter(text);
  const textOf = (name: string): string => [fields[name] ?? ""].flat().join(", ").trim();
  const name = textOf("name") === "" ? basename(dirname(file)) : textOf("name");
  if (!NAME.test(name) || name.length > MAX_NAME)
    return { problem: `the name ${JSON.stringify(name.slice(0, MAX_NAME))} must be letters, digits and hyphens, at most ${MAX_NAME}` };
  const description = textOf("description").replaceAll(/\s+/g, " ");
  if (description === "") return { problem: 'it has no description: write "description: …" between lines of --- at its begin' };
  if (body === "") return { problem: "it has no text behind its fields" };
  const unknown = Object.keys(fields).filter((field) => !KNOWN.has(field));
  return {
    name,
    description,
    file,
    folder: dirname(file),
    text: body,
    allowedTools: Array.isArray(fields["allowed-tools"])
      ? (fields["allowed-tools"] as readonly string[])
      : splitList(textOf("allowed-tools")),
    isForPeople: textOf("disable-model-invocation") === "true",
    problems: [...problems, ...unknown.map((field) => `the field ${field} is not known and was passed over`)],
  };
}
