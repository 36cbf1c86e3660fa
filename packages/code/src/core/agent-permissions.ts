import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { PermissionMode, PermissionPolicy, PermissionRule } from "@keelson/protocol";
import { loadPolicy, type Policy } from "keelson/security";
import type { SettingsValues } from "../settings/settings-values.ts";
import type { AgentOptions } from "../options/command-line.ts";
import type { Home } from "./home.ts";
import { withHomeRules } from "./home-rules.ts";
import type { ProjectRule } from "./project-rules.ts";

/** Returns the mode of a run: that of its options, else of the policy, else of the settings. */
export function modeOf(
  { permissionMode }: Pick<AgentOptions, "permissionMode">,
  policy: Policy | undefined,
  settings: Pick<SettingsValues, "mode"> = {},
): PermissionMode {
  return permissionMode ?? policy?.permissions.mode ?? settings.mode ?? "default";
}

/** What the coding agent may do: the rules of its policy, of its options and of the project add up; a mode that is given goes before that of the policy. */
export function agentPermissions(
  { permissionMode, rules }: Pick<AgentOptions, "permissionMode" | "rules">,
  policy: Policy | undefined,
  projectRules: readonly ProjectRule[],
  settings: Pick<SettingsValues, "rules" | "mode" | "folders"> = { rules: [], folders: [] },
): PermissionPolicy {
  const permissions: Policy["permissions"] = policy?.permissions ?? { rules: [] };
  const mode = permissionMode ?? modeOf({}, policy, settings);
  return {
    ...permissions,
    mode,
    rules: withHomeRules([
      ...permissions.rules,
      ...rules,
      ...projectRules.map(({ pattern }) => ({ pattern, behavior: "allow" as const })),
      ...settings.rules,
      ...settings.folders.flatMap(folderRules),
    ]),
  };
}

/** A folder that was added is read as the project is. Whether it is edited unasked is said by the mode, which can change while a run is at work. */
function folderRules(folder: string): readonly PermissionRule[] {
  // A star in its name would make a rule about other folders.
  if (/[*?()[\]\\]/.test(folder)) return [];
  return [{ pattern: `read_file(${folder}/**)`, behavior: "allow" }];
}

/** The policy of a person, who keeps it in the home folder of Keelson: what comes with a repository must not give itself rights. */
export async function homePolicy({ path }: Pick<Home, "path">): Promise<string | undefined> {
  const file = join(path, "policy.json");
  try {
    await readFile(file);
    return file;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    // One that is there and can't be read must not be passed over.
    return file;
  }
}

export async function policyAt(path: string | undefined): Promise<Policy | undefined> {
  return path === undefined ? undefined : loadPolicy(path);
}
