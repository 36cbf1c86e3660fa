import type { PermissionRule } from "@keelson/protocol";
import type { SandboxPolicy } from "keelson/environment";
import { commitFolders } from "../worktrees/linked-worktree.ts";
import { hiddenFiles } from "./hidden-files.ts";
import { hiddenPrograms } from "./hidden-programs.ts";
import { openPackageCaches } from "./package-caches.ts";

/** Share of the machine's memory that a command may take. With more, the system could end other programs. */
const MEMORY = "50%";

/**
 * Returns the policy of the sandbox for the commands of a project: that of the person, with denied programs, denied files and untracked secrets
 * hidden, a limit of memory, and caches of packages that can be written.
 * @param home the folder of Keelson; without it there are no caches
 */
export function codingPolicy(
  given: SandboxPolicy,
  {
    cwd,
    rules,
    variables,
    folders,
    home,
    env,
  }: {
    readonly cwd: string;
    readonly rules: readonly PermissionRule[];
    readonly variables: { readonly [name: string]: string };
    readonly folders: readonly string[];
    readonly home?: string | undefined;
    readonly env: { readonly [name: string]: string | undefined };
  },
): SandboxPolicy {
  const hidden = hiddenPrograms(rules);
  const files = hiddenFiles(rules);
  const { commands, environment, filesystem } = given;
  // A commit in a linked worktree writes to the repository, which is elsewhere.
  const roots = [...folders, ...commitFolders(cwd)];
  // Caches of the person are not read under a policy that names the readable folders.
  const caches = home === undefined || filesystem?.readableRoots !== undefined ? undefined : openPackageCaches(home, cwd, env);
  return {
    ...given,
    filesystem: {
      ...filesystem,
      hideSecrets: filesystem?.hideSecrets ?? true,
      // A policy that names the folders was written to confine: an added folder must be one of them.
      ...(roots.length > 0 && filesystem?.writableRoots === undefined && { writableRoots: [".", ...roots] }),
      ...(files.length > 0 && { deniedPaths: [...new Set([...(filesystem?.deniedPaths ?? []), ...files])] }),
      ...(caches && { cacheFolders: [...(filesystem?.cacheFolders ?? []), ...caches.folders] }),
    },
    resources: { memory: MEMORY, ...given.resources },
    ...(hidden.length > 0 && { commands: { ...commands, denied: [...new Set([...(commands?.denied ?? []), ...hidden])] } }),
    ...((caches !== undefined || Object.keys(variables).length > 0) && {
      environment: { ...environment, set: { ...caches?.variables, ...variables, ...environment?.set } },
    }),
  };
}
