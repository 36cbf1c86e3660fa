import { join } from "node:path";
import { readInstructionFile } from "../instructions/index.ts";
import { readSettings } from "../settings/read-settings.ts";
import { type SettingsEntry, unused } from "../settings/settings-entry.ts";
import { PROJECT_SETTINGS } from "../settings/settings-places.ts";
import { coverCommands, type ProjectCommand } from "./covered-item.ts";
import { type HookCommand, hookCommands } from "./hook-commands.ts";
import type { ProjectItem } from "./project-item.ts";

export const MAX_SETTINGS_BYTES: number = 1024 * 1024;

/** A file of settings that a project brings. */
export interface ProjectSettings {
  readonly entries: readonly SettingsEntry[];
  /** Its identity for trust. Absent: nothing in it needs trust. */
  readonly item?: ProjectItem;
}

/** Reads one file of settings of a project, and what it would run. @param path below the root, with `/` */
export async function readProjectSettings(project: string, path: string): Promise<ProjectSettings | undefined> {
  const file = await readInstructionFile(join(project, path), MAX_SETTINGS_BYTES, project);
  if (file === undefined) return undefined;
  if (file.note !== undefined) return { entries: [unused("the file", file.note, true)] };
  const entries = readSettings(file.text);
  const opening = entries.filter(({ kind }) => kind === "opens");
  if (opening.length === 0) return { entries };
  const env = Object.assign({}, ...opening.map(({ values }) => values?.variables ?? {})) as { readonly [name: string]: string };
  const hooks = opening.find(({ values }) => values?.hooks !== undefined)?.values?.hooks;
  const commands = hooks === undefined ? [] : hookCommands({ hooks });
  const covered = await coverCommands(project, file.text, [
    ...commands.map((command): ProjectCommand => ({ ...asCovered(command, project), cwd: project, env })),
    // Variables reach every command of the agent, whether or not there are hooks.
    ...(Object.keys(env).length > 0 ? [{ line: ":", cwd: project, env }] : []),
  ]);
  return {
    entries,
    item: {
      kind: "settings",
      path,
      digest: covered.digest,
      shows: [...opening.flatMap(shownEntry), ...commands.map(shownCommand), ...covered.shows],
    },
  };
}

/** The files of settings that say something which needs trust. */
export async function settingsItems(project: string): Promise<readonly ProjectItem[]> {
  const read = await Promise.all(PROJECT_SETTINGS.map((path) => readProjectSettings(project, path)));
  return read.flatMap((settings) => settings?.item ?? []);
}

function shownEntry({ entry, values, reason }: SettingsEntry): readonly string[] {
  if (values?.hooks !== undefined) return [];
  const [variable] = Object.entries(values?.variables ?? {});
  return [variable === undefined ? `${entry}: ${reason}` : `${entry}=${variable[1]}: ${reason}`];
}

function shownCommand({ when, command, args = [] }: HookCommand): string {
  return `${when}: ${[command, ...args].join(" ")}`;
}

const PROJECT = /\$(?:\{CLAUDE_PROJECT_DIR\}|CLAUDE_PROJECT_DIR\b)/g;
const PROJECT_IN_QUOTES = /"\$(?:\{CLAUDE_PROJECT_DIR\}|CLAUDE_PROJECT_DIR)"/g;

/** Hooks written for Claude Code name the project by a variable. */
function asCovered(
  { command, args }: HookCommand,
  project: string,
): { readonly line: string } | { readonly program: string; readonly args: readonly string[] } {
  const isPlain = /^[\w@%+=:,./-]+$/.test(project);
  const text = (given: string): string => (isPlain ? given.replaceAll(PROJECT_IN_QUOTES, project).replaceAll(PROJECT, project) : given);
  return args === undefined ? { line: text(command) } : { program: text(command), args: args.map(text) };
}
