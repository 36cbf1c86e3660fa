import { credentialPaths } from "./credential-paths.ts";
import { policyPath } from "./policy-path.ts";
import { type FilesystemPolicy, PROTECTED_HOME_PATHS, PROTECTED_PATHS } from "./sandbox-policy.ts";

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

/** What stays read-only below a writable root, relative to it. */
export function protectedPaths(filesystem: FilesystemPolicy, isHome: boolean): readonly string[] {
  return filesystem.protectedPaths ?? [...PROTECTED_PATHS, ...(isHome ? PROTECTED_HOME_PATHS : [])];
}
