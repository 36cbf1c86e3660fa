import { stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { AgentError, type JsonObject } from "@keelson/protocol";
import { homePath, isHomePath } from "../core/home-path.ts";
import { readInstructionFile } from "../instructions/index.ts";
import { MAX_SETTINGS_BYTES, readProjectSettings } from "../trust/settings-items.ts";
import type { ProjectItem } from "../trust/project-item.ts";
import type { ProjectTrust } from "../trust/project-trust.ts";
import type { FoundItem } from "./found-item.ts";
import { readSettings } from "./read-settings.ts";
import { type SettingsEntry, unused } from "./settings-entry.ts";
import { PROJECT_SETTINGS, settingsPlaces, userHome } from "./settings-places.ts";
import { joinValues, NO_VALUES, type SettingsValues } from "./settings-values.ts";

/** Hooks of one file of settings. */
export interface SettingsHooks {
  /** Absolute. */
  readonly file: string;
  readonly hooks: JsonObject;
  /** Below the root of the repository. Absent: the file is the person's own. */
  readonly projectPath?: string;
}

/** The settings of all files, as far as they may be used. */
export interface LoadedSettings {
  /** Without hooks; folders are absolute and exist. */
  readonly values: Omit<SettingsValues, "hooks">;
  readonly hooks: readonly SettingsHooks[];
  /** Everything that the files say. */
  readonly found: readonly FoundItem[];
  /** Files of the project that say more than is used, because they are not trusted as they are. */
  readonly leftOut: readonly ProjectItem[];
}

export interface LoadSettingsOptions {
  /** The folder of Keelson. */
  readonly home: string;
  readonly environment: { readonly [name: string]: string | undefined };
  readonly trust: ProjectTrust;
}

/**
 * Reads all files of settings. Rules that deny or ask are always used; everything else of a project is used if the file is trusted as it is.
 * @throws AgentError if the person's own settings.json of Keelson is no JSON: what it was to confine must not be passed over
 */
export async function loadSettings({ home, environment, trust }: LoadSettingsOptions): Promise<LoadedSettings> {
  const { project } = trust;
  let values: SettingsValues = NO_VALUES;
  const hooks: SettingsHooks[] = [];
  const found: FoundItem[] = [];
  const leftOut: ProjectItem[] = [];
  for (const { path, scope } of settingsPlaces({ home, userHome: userHome(environment), project })) {
    const read = scope === "user" ? await readOwn(path, home) : await readOfProject(path, project);
    if (read === undefined) continue;
    const { entries, item } = read;
    const isTrusted = item === undefined || (await trust.allows(item));
    if (!isTrusted) leftOut.push(item);
    for (const given of entries) {
      const entry = await withFolders(given, project, environment);
      const isUsed = entry.kind === "confines" || (entry.kind === "opens" && isTrusted) || (entry.kind === "person" && scope === "user");
      found.push(foundItem(path, entry, isUsed, item));
      if (!isUsed || entry.values === undefined) continue;
      const { hooks: ofFile, ...others } = entry.values;
      values = joinValues(values, others);
      if (ofFile !== undefined) hooks.push({ file: path, hooks: ofFile, ...(scope === "project" && { projectPath: item?.path ?? "" }) });
    }
  }
  const { hooks: _, ...joined } = values;
  return { values: joined, hooks, found, leftOut };
}

interface ReadFile {
  readonly entries: readonly SettingsEntry[];
  /** Its identity for trust. */
  readonly item?: ProjectItem;
}

async function readOwn(path: string, home: string): Promise<ReadFile | undefined> {
  const file = await readInstructionFile(path, MAX_SETTINGS_BYTES);
  if (file === undefined) return undefined;
  const entries = file.note === undefined ? readSettings(file.text) : [unused("the file", file.note, true)];
  const problem = entries.find(({ entry }) => entry === "the file");
  if (problem !== undefined && path === join(home, "settings.json"))
    throw new AgentError({
      kind: "invalid-option",
      option: path,
      message: `The settings in ${path} are not understood: ${problem.reason}. Mend the file or move it away.`,
    });
  return { entries };
}

async function readOfProject(path: string, project: string): Promise<ReadFile | undefined> {
  const name = PROJECT_SETTINGS.find((known) => join(project, known) === path) as string;
  return readProjectSettings(project, name);
}

/** The same entry with folders that are absolute, or the reason why it is not used. */
async function withFolders(entry: SettingsEntry, project: string, environment: LoadSettingsOptions["environment"]): Promise<SettingsEntry> {
  const [folder] = entry.values?.folders ?? [];
  if (folder === undefined) return entry;
  const path = isHomePath(folder) ? homePath(folder, environment) : resolve(project, folder);
  if (path === undefined) return unused(entry.entry, "it is in the home folder, and HOME names none: set HOME, or give an absolute path");
  const isFolder = await stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  return isFolder ? { ...entry, values: { folders: [path] } } : unused(entry.entry, `there is no folder ${path}`);
}

function foundItem(file: string, entry: SettingsEntry, isUsed: boolean, item: ProjectItem | undefined): FoundItem {
  const { reason, kind, isGuard = false } = entry;
  return {
    file,
    entry: entry.entry,
    isUsed,
    reason: isUsed ? reason : reasonUnused(kind, reason, item),
    ...(isGuard && { isGuard }),
  };
}

function reasonUnused(kind: SettingsEntry["kind"], reason: string, item: ProjectItem | undefined): string {
  if (kind === "opens") return `not trusted as it is: keelson trust accept ${item?.path ?? ""}`;
  return kind === "person" ? "it is about the terminal of a person: write it into settings.json of the home folder of Keelson" : reason;
}

/** The path of a found thing as a person reads it: relative to the project, or below `~`. */
export function shownFile(file: string, project: string, user: string): string {
  const inside = relative(project, file);
  if (inside !== "" && !isAbsolute(inside) && inside.split(sep)[0] !== "..") return inside;
  return file.startsWith(`${user}/`) ? `~${file.slice(user.length)}` : file;
}
