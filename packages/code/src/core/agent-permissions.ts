import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { PermissionPolicy } from "@keelson/protocol";
import { loadPolicy, type Policy } from "keelson/security";
import type { AgentOptions } from "../options/command-line.ts";
import type { Home } from "./home.ts";
import type { ProjectRule } from "./project-rules.ts";

/** What the coding agent may do: the rules of its policy, of its options and of the project add up; a mode that is given goes before that of the policy. */
export function agentPermissions(
  { permissionMode, rules }: Pick<AgentOptions, "permissionMode" | "rules">,
  policy: Policy | undefined,
  projectRules: readonly ProjectRule[],
): PermissionPolicy {
  const permissions: Policy["permissions"] = policy?.permissions ?? { rules: [] };
  return {
    ...permissions,
    mode: permissionMode ?? permissions.mode ?? "default",
    rules: [...permissions.rules, ...rules, ...projectRules.map(({ pattern }) => ({ pattern, behavior: "allow" as const }))],
  };
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
