import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { checkOptionNames } from "../../json/option-names.ts";
import { policyPath } from "./policy-path.ts";
import { readSandboxPolicy } from "./read-sandbox-policy.ts";
import { GIT_STEERING_PATHS, STEERING_PATHS } from "../workspace/steering-paths.ts";
import { CREDENTIAL_PATHS, type SandboxPolicy } from "./sandbox-policy.ts";

export interface SeatbeltProfileOptions {
  readonly workspace: string;
  /** Where a filtering proxy listens on loopback; without it there is no network. */
  readonly proxyPort?: number | undefined;
}

const SYSTEM_FOLDERS = ["/usr", "/bin", "/sbin", "/System", "/Library", "/opt/homebrew", "/private/etc", "/private/var/db", "/dev"];
const SERVICES = [
  "com.apple.system.opendirectoryd.libinfo",
  "com.apple.system.notification_center",
  "com.apple.system.logger",
  "com.apple.trustd.agent",
];
const DEVICES = ["/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper"];

/**
 * The policy as a profile for macOS's `sandbox-exec -p`. It covers files and the network; limits, variables and namespaces of processes have
 * no counterpart there. Written after published profiles, and not run by us on macOS: try it before you rely on it.
 */
export async function createSeatbeltProfile(policy: SandboxPolicy, options: SeatbeltProfileOptions): Promise<string> {
  checkOptionNames("createSeatbeltProfile", options, { workspace: true, proxyPort: true });
  const { workspace, proxyPort } = options;
  const { filesystem = {}, network } = readSandboxPolicy(policy);
  const real = async (path: string): Promise<string> => {
    const whole = policyPath(path, resolve(workspace));
    return realpath(whole).catch(async () =>
      join(await realpath(dirname(whole)).catch(() => dirname(whole)), whole.slice(dirname(whole).length)),
    );
  };
  const all = (paths: readonly string[]): Promise<string[]> => Promise.all(paths.map(real));
  const roots = await all(filesystem.writableRoots ?? [workspace]);
  const kept = roots.flatMap((root) => (filesystem.protectedPaths ?? []).map((path) => join(root, path)));
  const named = filesystem.protectedPaths === undefined ? [...STEERING_PATHS, ...GIT_STEERING_PATHS.map((path) => `.git/${path}`)] : [];
  const denied = await all([
    ...(filesystem.deniedPaths ?? []),
    ...(filesystem.hideCredentials === false ? [] : CREDENTIAL_PATHS.map((path) => resolve(homedir(), path))),
  ]);
  const readable =
    filesystem.readableRoots === undefined ? undefined : [...SYSTEM_FOLDERS, ...(await all(filesystem.readableRoots)), ...roots];
  // A folder above a protected path must not be moved away and made anew.
  const above = roots.flatMap((root) => [
    ...(named.length > 0 ? [join(root, ".git")] : []),
    ...kept.filter((path) => path.startsWith(`${root}/`)).flatMap((path) => foldersBetween(root, path)),
  ]);

  // Of several rules that match, the last one holds.
  return `${[
    "(version 1)",
    "(deny default)",
    "(allow process-exec process-fork)",
    "(allow signal process-info* (target same-sandbox))",
    "(allow sysctl-read)",
    `(allow mach-lookup ${SERVICES.map((name) => `(global-name ${quoted(name)})`).join(" ")})`,
    "(allow file-read-metadata)",
    readable === undefined ? "(allow file-read*)" : `(allow file-read* ${subpaths(readable)})`,
    `(allow file-write* ${subpaths(roots)})`,
    `(allow file-write-data file-ioctl ${DEVICES.map((path) => `(literal ${quoted(path)})`).join(" ")})`,
    ...(kept.length > 0 ? [`(deny file-write* ${subpaths(kept)})`] : []),
    ...roots.flatMap((root) => named.map((path) => `(deny file-write* (regex #"${namesBelow(root, path)}"))`)),
    ...(above.length > 0 ? [`(deny file-write-unlink ${[...new Set(above)].map((path) => `(literal ${quoted(path)})`).join(" ")})`] : []),
    ...(denied.length > 0 ? [`(deny file-read* file-write* ${subpaths(denied)})`] : []),
    ...(network?.enabled === true && proxyPort !== undefined
      ? [`(allow network-outbound (remote ip ${quoted(`localhost:${proxyPort}`)}))`]
      : []),
  ].join("\n")}\n`;
}

function foldersBetween(root: string, path: string): string[] {
  const found: string[] = [];
  for (let folder = dirname(path); folder !== root && folder !== dirname(folder); folder = dirname(folder)) found.push(folder);
  return found;
}

/** A name in any folder of a root, and all below it, as a regular expression of a profile, which has no escape for a quotation mark. */
function namesBelow(root: string, path: string): string {
  const escaped = (text: string): string => text.replace(/[.+?^${}()|[\]\\*]/g, "\\$&").replaceAll('"', ".");
  const name = path.split("*").map(escaped).join("[^/]*");
  return `^${escaped(root)}/(.*/)?${name}(/|$)`;
}

function subpaths(paths: readonly string[]): string {
  return paths.map((path) => `(subpath ${quoted(path)})`).join(" ");
}

function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
