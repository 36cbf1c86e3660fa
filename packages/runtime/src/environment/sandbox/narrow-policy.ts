import { accessTo } from "./policy-access.ts";
import { isListed } from "./program-list.ts";
import type { CommandPolicy, FilesystemPolicy, NetworkPolicyConfig, SandboxPolicy } from "./sandbox-policy.ts";
import { atUsualPorts, intersectHosts } from "./network/intersect-hosts.ts";

/**
 * A policy under which both of these hold: what one of them keeps from a command, it does. Paths are absolute and normal, links
 * resolved; `filesystem.writableRoots` is given. Of `by` only what a `SandboxConfig` can say is looked at: roots, denied paths, network
 * and commands.
 */
export function narrowPolicy(policy: SandboxPolicy, by: SandboxPolicy): SandboxPolicy {
  const commands = narrowCommands(policy.commands, by.commands);
  return {
    ...policy,
    filesystem: narrowFilesystem(policy.filesystem ?? {}, by.filesystem ?? {}),
    network: narrowNetwork(policy.network, by.network),
    ...(commands !== undefined && { commands }),
  };
}

function narrowFilesystem(a: FilesystemPolicy, b: FilesystemPolicy): FilesystemPolicy {
  const writable = [...(a.writableRoots ?? []), ...(b.writableRoots ?? [])];
  const readable = [...writable, ...(a.readableRoots ?? []), ...(b.readableRoots ?? [])];
  const isReadOnlySomewhere = a.readableRoots !== undefined || b.readableRoots !== undefined;
  return {
    ...a,
    writableRoots: unique(writable.filter((root) => accessTo(a, root) === "write" && accessTo(b, root) === "write")),
    ...(isReadOnlySomewhere && {
      readableRoots: unique(readable.filter((root) => accessTo(a, root) !== "none" && accessTo(b, root) !== "none")),
    }),
    deniedPaths: unique([...(a.deniedPaths ?? []), ...(b.deniedPaths ?? [])]),
  };
}

export function narrowNetwork(a: NetworkPolicyConfig | undefined, b: NetworkPolicyConfig | undefined): NetworkPolicyConfig {
  if (a?.enabled !== true || b?.enabled !== true) return { enabled: false };
  const allowedDomains = narrowHosts(a.allowedDomains, b.allowedDomains);
  return {
    enabled: true,
    ...(allowedDomains !== undefined && { allowedDomains }),
    deniedDomains: unique([...(a.deniedDomains ?? []), ...(b.deniedDomains ?? [])]),
  };
}

/** A policy without a list reaches every host at the usual ports, so of the other list only those ports remain. */
function narrowHosts(a: readonly string[] | undefined, b: readonly string[] | undefined): readonly string[] | undefined {
  if (a !== undefined && b !== undefined) return intersectHosts(a, b);
  const only = a ?? b;
  return only && atUsualPorts(only);
}

function narrowCommands(a: CommandPolicy | undefined, b: CommandPolicy | undefined): CommandPolicy | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const allowed =
    a.allowed === undefined || b.allowed === undefined
      ? (a.allowed ?? b.allowed)
      : [...a.allowed, ...b.allowed].filter((program) => isListed(a.allowed ?? [], program) && isListed(b.allowed ?? [], program));
  return { ...(allowed !== undefined && { allowed: unique(allowed) }), denied: unique([...(a.denied ?? []), ...(b.denied ?? [])]) };
}

function unique(list: readonly string[]): readonly string[] {
  return [...new Set(list)];
}
