import { parseFrontMatter } from "keelson/skills";

/** A command of the prompt that is a Markdown file: its text is a message to the agent. */
export interface MarkdownCommand {
  /** The path below the folder of commands, with `:` for slashes: `web:fix`. */
  readonly name: string;
  readonly file: string;
  readonly description: string;
  readonly argumentHint?: string;
  /** The text of the message, with places for arguments. */
  readonly text: string;
  /** Parts of the file that are not used, with the reasons. */
  readonly unused: readonly string[];
}

/** Fields that shape a command of Claude Code, with the reason why they do nothing here. */
const UNUSED: { readonly [field: string]: string } = {
  "allowed-tools": "allowed-tools is no permission: calls ask as usual",
  "model": "model is not used: /model changes the model",
  "hooks": "hooks of a command are not supported",
  "context": "context is not supported: the command runs in this conversation",
  "agent": "agent is not supported: the command runs in this conversation",
  "disable-model-invocation": "",
  "user-invocable": "",
  "name": "",
};
const MAX_DESCRIPTION = 120;

/** Reads a command from the text of its file. */
export function readMarkdownCommand(text: string, { name, file }: { readonly name: string; readonly file: string }): MarkdownCommand {
  const { fields, body, problems } = parseFrontMatter(text);
  const textOf = (field: string): string => [fields[field] ?? ""].flat().join(" ").replaceAll(/\s+/g, " ").trim();
  const [first = ""] = body.split("\n").filter((line) => line.trim() !== "");
  const description = textOf("description") || first.replace(/^#+\s*/, "").trim();
  const hint = textOf("argument-hint");
  const others = Object.keys(fields).filter((field) => field !== "description" && field !== "argument-hint");
  return {
    name,
    file,
    description: description.length > MAX_DESCRIPTION ? `${description.slice(0, MAX_DESCRIPTION)}…` : description,
    ...(hint !== "" && { argumentHint: hint }),
    text: body,
    unused: [...problems, ...others.map((field) => UNUSED[field] ?? `the field ${field} is not known`).filter((reason) => reason !== "")],
  };
}

const PLACE =
  /\$(?:ARGUMENTS(?:\[(?<index>\d)\])?|(?<number>[1-9]))(?!\w)|!`(?<command>[^`\n]+)`|(?<![^\s(])@(?<path>(?:~\/|\.{0,2}\/)?[\w.+/-]*\w)/g;

/**
 * Returns the message of a command. `$ARGUMENTS` and `$1` become the arguments. A command between !` and ` and a file behind `@` are not run or read
 * here: the agent is asked to do it first, so that permissions hold for it. What is put in is not looked at again.
 */
export function expandCommand(text: string, argument: string): string {
  const words = splitWords(argument);
  const commands: string[] = [];
  const paths: string[] = [];
  let isPlaced = false;
  const filled = (template: string): string =>
    template.replaceAll(PLACE, (...rest) => {
      const { index, number, command, path } = rest.at(-1) as { readonly [group: string]: string | undefined };
      if (command !== undefined) {
        const line = filled(command);
        commands.push(line);
        return `\`${line}\``;
      }
      if (path !== undefined) {
        paths.push(path);
        return path;
      }
      isPlaced = true;
      if (index !== undefined) return words[Number(index)] ?? "";
      if (number === undefined) return argument;
      return words[Number(number) - 1] ?? "";
    });
  const message = filled(text);
  return [
    message,
    ...(!isPlaced && argument !== "" ? [`Arguments: ${argument}`] : []),
    ...(commands.length > 0
      ? [`Before you begin, run these commands and use their output: ${commands.map((line) => `\`${line}\``).join(", ")}`]
      : []),
    ...(paths.length > 0 ? [`Read these files first, if they are there: ${[...new Set(paths)].join(", ")}`] : []),
  ].join("\n\n");
}

/** Splits arguments at blanks that are in no quotes. */
function splitWords(text: string): readonly string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|\S+/g)].map(([whole, double, single]) => double ?? single ?? whole);
}
