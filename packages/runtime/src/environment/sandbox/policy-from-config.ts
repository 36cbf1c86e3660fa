import { EnvironmentError, type EnvironmentSpec, type FilesystemConfig, type NetworkPolicy, type SandboxConfig } from "@keelson/protocol";
import type { FilesystemPolicy, NetworkPolicyConfig, ResourcePolicy, SandboxPolicy } from "./sandbox-policy.ts";
import { readSandboxPolicy } from "./read-sandbox-policy.ts";
import { checkOptionNames } from "../../json/option-names.ts";

/** The policy that the short form of an agent stands for. Where it says nothing of the network, there is none. */
export function policyFromSandboxConfig(config: SandboxConfig): SandboxPolicy {
  checkOptionNames("A sandbox configuration", config, {
    enabled: true,
    network: true,
    filesystem: true,
    allowedCommands: true,
    deniedCommands: true,
  });
  if (!config.enabled)
    throw new EnvironmentError({
      kind: "provision-failed",
      message: "This configuration says `enabled: false`: there is no sandbox to make.",
    });
  const { filesystem, network, allowedCommands, deniedCommands } = config;
  return readSandboxPolicy({
    ...(filesystem !== undefined && { filesystem: fileRulesOf(filesystem) }),
    ...(network !== undefined && { network }),
    commands: {
      ...(allowedCommands !== undefined && { allowed: allowedCommands }),
      ...(deniedCommands !== undefined && { denied: deniedCommands }),
    },
  });
}

function fileRulesOf({ allowedRoots, deniedPaths }: FilesystemConfig): FilesystemPolicy {
  return { ...(allowedRoots !== undefined && { writableRoots: allowedRoots }), ...(deniedPaths !== undefined && { deniedPaths }) };
}

/**
 * The policy that the limits and network rules of a spec stand for, over a policy that says the rest.
 * @throws EnvironmentError of kind `provision-failed` for what no sandbox here provides
 */
export function policyFromEnvironmentSpec(spec: EnvironmentSpec, base: SandboxPolicy = {}): SandboxPolicy {
  checkOptionNames("An environment spec", spec, { isolation: true, credentials: true, resources: true, network: true, sandboxes: true });
  const { resources, network } = spec;
  const limits: { -readonly [Name in keyof ResourcePolicy]: ResourcePolicy[Name] } = { ...base.resources };
  for (const missing of ["disk", "gpu"] as const)
    if (resources?.[missing] !== undefined)
      throw new EnvironmentError({
        kind: "provision-failed",
        message: `A sandbox on this machine can't provide the limit "${missing}: ${resources[missing]}". Leave it out, or use an environment that does.`,
      });
  if (resources?.memory !== undefined) limits.memory = resources.memory;
  if (resources?.cpu !== undefined) limits.cpus = processorsOf(resources.cpu);
  return readSandboxPolicy({ ...base, resources: limits, ...(network !== undefined && { network: networkFromRules(network) }) });
}

/** "1.5", or thousandths, as in "1500m". */
function processorsOf(cpu: string): number {
  const [, number, unit] = /^\s*(\d+(?:\.\d+)?)(m?)\s*$/.exec(cpu) ?? [];
  if (number !== undefined) return unit === "m" ? Number(number) / 1000 : Number(number);
  throw new EnvironmentError({
    kind: "provision-failed",
    message: `The limit "cpu: ${cpu}" is no number of processors. Give one such as "1.5" or "500m".`,
  });
}

/** Denied wins: a rule that allows a host beside one that denies it has no effect. */
function networkFromRules({ default: otherwise, rules }: NetworkPolicy): NetworkPolicyConfig {
  const hosts = (action: "allow" | "deny"): string[] =>
    rules
      .filter((rule) => rule.action === action)
      .map(({ destination, port }) => (port === undefined ? destination : `${destination}:${port}`));
  const deniedDomains = hosts("deny");
  return otherwise === "allow" ? { enabled: true, deniedDomains } : { enabled: true, allowedDomains: hosts("allow"), deniedDomains };
}
