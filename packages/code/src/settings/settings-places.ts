import { homedir } from "node:os";
import { join } from "node:path";

/** A file of settings that is looked for. */
export interface SettingsPlace {
  readonly path: string;
  /** `user`: the person wrote it. `project`: it is in a repository, and others may have written it. */
  readonly scope: "user" | "project";
}

export interface SettingsFolders {
  /** The folder of Keelson. */
  readonly home: string;
  /** The home folder of the person. */
  readonly userHome: string;
  /** The root of the repository. */
  readonly project: string;
}

/** Settings of an organization for Claude Code, which a person cannot change there. */
const MANAGED: { readonly [platform: string]: string } = {
  linux: "/etc/claude-code/managed-settings.json",
  darwin: "/Library/Application Support/ClaudeCode/managed-settings.json",
};

/** Below the root of a repository. Local ones are meant to stay out of version control, but nothing keeps a repository from bringing them. */
export const PROJECT_SETTINGS: readonly string[] = [
  ".claude/settings.json",
  ".keelson/settings.json",
  ".claude/settings.local.json",
  ".keelson/settings.local.json",
];

/** The files of settings, in the order in which they count: a later one goes before an earlier one. Rules of all of them add up. */
export function settingsPlaces({ home, userHome, project }: SettingsFolders): readonly SettingsPlace[] {
  const managed = MANAGED[process.platform];
  return [
    ...(managed === undefined ? [] : [{ path: managed, scope: "user" as const }]),
    { path: join(userHome, ".claude/settings.json"), scope: "user" },
    { path: join(home, "settings.json"), scope: "user" },
    ...PROJECT_SETTINGS.map((path) => ({ path: join(project, path), scope: "project" as const })),
  ];
}

export function userHome(environment: { readonly [name: string]: string | undefined }): string {
  return environment["HOME"] || homedir();
}
