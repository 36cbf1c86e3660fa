import { join } from "node:path";
import { readInstructionFile } from "../instructions/index.ts";
import { coverCommands } from "./covered-item.ts";
import { type HookCommand, hookCommands } from "./hook-commands.ts";
import type { ProjectItem } from "./project-item.ts";

/** Below the root of the repository. */
export const HOOKS_PATH = ".keelson/hooks.json";
const MAX_BYTES = 1024 * 1024;

export interface ProjectHooks {
  readonly item: ProjectItem;
  readonly text: string;
  /** Why they can't be used. */
  readonly problem?: string;
}

export async function hookItems(project: string): Promise<readonly ProjectItem[]> {
  const hooks = await readProjectHooks(project);
  return hooks === undefined ? [] : [hooks.item];
}

/** The hooks of a project's own file, and what they are trusted as. `undefined`: there is none. */
export async function readProjectHooks(project: string): Promise<ProjectHooks | undefined> {
  const file = await readInstructionFile(join(project, HOOKS_PATH), MAX_BYTES, project);
  if (file === undefined) return undefined;
  const { text, note } = file;
  // A file that can't be used stops nobody who doesn't trust it.
  if (note !== undefined) {
    const { digest } = await coverCommands(project, note, []);
    return { item: { kind: "hooks", path: HOOKS_PATH, digest, shows: [note] }, text, problem: note };
  }
  const commands = commandsOf(text);
  const covered = await coverCommands(
    project,
    text,
    commands.map(({ command, args }) => ({ ...(args === undefined ? { line: command } : { program: command, args }), cwd: project })),
  );
  const shows = [
    ...(commands.length === 0
      ? text.split("\n")
      : commands.map(({ when, command, args = [] }) => `${when}: ${[command, ...args].join(" ")}`)),
    ...covered.shows,
  ];
  return { item: { kind: "hooks", path: HOOKS_PATH, digest: covered.digest, shows }, text };
}

/** For a person. What is no hook is shown by no line here, and refused when it is loaded. */
function commandsOf(text: string): readonly HookCommand[] {
  try {
    return hookCommands(JSON.parse(text));
  } catch {
    return [];
  }
}
