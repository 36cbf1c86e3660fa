import type { FoundItem } from "../settings/found-item.ts";
import type { ServerStates } from "../servers/servers-of-runs.ts";
import type { ListedHook } from "../trust/listed-hooks.ts";
import { foundLines } from "../render/found-lines.ts";
import { hookLines } from "../render/hook-lines.ts";
import { mcpLines, mcpToolLines } from "../render/mcp-lines.ts";
import { printableLine } from "../text/printable.ts";
import type { Prompt, SlashCommand, SlashOutput } from "./slash-command.ts";

export interface ProjectCommandsOptions {
  /** The name by which the person calls this program. */
  readonly command: string;
  servers(): Promise<ServerStates>;
  /** The files of instructions, used or not. */
  instructions(): Promise<readonly FoundItem[]>;
  skills(): Promise<readonly FoundItem[]>;
  hooks(): Promise<readonly ListedHook[]>;
  /** Opens a file in the person's editor. @returns lines to show */
  editFile(path: string): Promise<readonly string[]>;
  /** The path of a file as a person reads it. */
  shownFile(file: string): string;
}

/** The commands that show what the project and the person bring for the agent. */
export function projectCommands(options: ProjectCommandsOptions): readonly SlashCommand[] {
  const { command, servers, instructions, skills, hooks, shownFile } = options;
  return [
    {
      name: "mcp",
      argumentHint: "[server]",
      description: "the MCP servers with their states and tools, and how to log in",
      group: "project",
      complete: async (argument) =>
        (await servers()).servers.map(({ server }) => ({ value: server.name })).filter(({ value }) => value.startsWith(argument)),
      async execute(name, { style }) {
        const states = await servers();
        if (name === "") return mcpLines(states, { style, command });
        const found = states.servers.find(({ server }) => server.name === name && server.state !== "shadowed");
        if (found !== undefined) return mcpToolLines(found, { style, command });
        const names = states.servers.map(({ server }) => printableLine(server.name)).join(", ");
        return [style.yellow(`there is no server "${printableLine(name)}"${names === "" ? "" : `; there are ${names}`}`)];
      },
    },
    {
      name: "memory",
      argumentHint: "[edit n]",
      description: "the files of instructions: which are used, where they are, and why others are not",
      group: "project",
      complete: async (argument) =>
        "edit".startsWith(argument) && argument !== "" ? [{ value: "edit ", description: "opens one in $EDITOR" }] : [],
      execute: async (argument, prompt) => memory(argument, await instructions(), prompt, options),
    },
    {
      name: "skills",
      description: "the skills, with their files",
      group: "project",
      async execute(_argument, { style }) {
        const found = await skills();
        if (found.length === 0)
          return ["There are no skills. A skill is a folder with a SKILL.md in .keelson/skills of the project or of your home folder."];
        return foundLines(found, { style, shownFile });
      },
    },
    {
      name: "hooks",
      description: "the hooks: when each runs, what it runs, where it is from, and whether it is trusted",
      group: "project",
      execute: async (_argument, { style }) => hookLines(await hooks(), { style, command, shownFile }),
    },
  ];
}

async function memory(
  argument: string,
  found: readonly FoundItem[],
  { style }: Prompt,
  { editFile, shownFile }: Pick<ProjectCommandsOptions, "editFile" | "shownFile">,
): Promise<SlashOutput> {
  if (argument === "") {
    if (found.length === 0)
      return ["There are no files of instructions. AGENTS.md in the project is read, and AGENTS.md of your home folder of Keelson."];
    return [...foundLines(found, { style, shownFile, isNumbered: true }), style.dim("/memory edit n opens one in your editor")];
  }
  const number = /^edit(?:\s+(?<number>\d+))?$/.exec(argument)?.groups;
  if (number === undefined)
    return [style.yellow(`"${printableLine(argument)}" is not understood: use /memory, or /memory edit and a number`)];
  const chosen = number["number"] === undefined && found.length === 1 ? found[0] : found[Number(number["number"] ?? 0) - 1];
  if (chosen === undefined) return [style.yellow(`give the number of a file: /memory edit 1 to ${found.length}`)];
  return editFile(chosen.file);
}
