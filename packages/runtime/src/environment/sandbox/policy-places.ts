import { credentialPaths } from "./credential-paths.ts";
import { isWithin, policyPath } from "./policy-path.ts";
import { PathNames } from "../workspace/path-names.ts";
import { GIT_STEERING_PATHS, STEERING_PATHS } from "../workspace/steering-paths.ts";
import type { FilesystemPolicy } from "./sandbox-policy.ts";

/** What relative paths of a policy, and those that begin with `~`, are relative to. Both absolute. */
export interface PolicyPlaces {
  readonly workspace: string;
  readonly home: string;
}

/** They can be read whatever the policy says of readable roots. */
export const SYSTEM_FOLDERS: readonly string[] = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/nix/store",
  "/gnu/store",
];
export const SYSTEM_FILES: readonly string[] = [
  "/etc/alternatives",
  "/etc/ca-certificates",
  "/etc/group",
  "/etc/hosts",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/nsswitch.conf",
  "/etc/passwd",
  "/etc/pki",
  "/etc/ssl",
  "/etc/timezone",
];

/** Everything that a policy hides, as absolute paths. */
export function deniedPaths(filesystem: FilesystemPolicy, { workspace, home }: PolicyPlaces): readonly string[] {
  const named = (filesystem.deniedPaths ?? []).map((path) => policyPath(path, workspace, home));
  if (filesystem.hideCredentials === false) return named;
  return [...named, ...credentialPaths(home)];
}

const GIT = ".git/";
let steering: PathNames | undefined;

/** Names in folders of git that a policy protects. */
export function gitNames({ protectedPaths }: FilesystemPolicy): readonly string[] {
  return protectedPaths?.filter((path) => path.startsWith(GIT)).map((path) => path.slice(GIT.length)) ?? GIT_STEERING_PATHS;
}

/** True if a policy protects a path below a writable root, judged by its text alone. The path is relative to the root. */
export function isProtected({ protectedPaths }: FilesystemPolicy, path: string): boolean {
  if (protectedPaths !== undefined) return protectedPaths.some((one) => isWithin(`/${path}`, `/${one}`));
  steering ??= new PathNames([
    ...STEERING_PATHS,
    // Git itself writes lists of steps: those that start a program are found when a command has ended.
    ...GIT_STEERING_PATHS.filter((name) => !name.endsWith("todo")).map((name) => GIT + name),
    ...["commondir", "gitdir", "config.worktree"].map((name) => `${GIT}worktrees/*/${name}`),
  ]);
  return steering.has(path);
}
