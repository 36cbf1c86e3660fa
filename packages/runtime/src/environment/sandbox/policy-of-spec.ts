import type { EnvironmentSpec, NetworkPolicy } from "@keelson/protocol";
import { narrowNetwork, narrowPolicy } from "./narrow-policy.ts";
import { parseSize } from "./parse-size.ts";
import { policyFromEnvironmentSpec, policyFromSandboxConfig } from "./policy-from-config.ts";
import { realPolicy } from "./real-policy.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";

/**
 * The one policy under which all that a spec asks for holds, with real paths.
 * @param most what the maker of the environment allows; a spec only takes away from it. Absent: the spec alone decides.
 * @throws EnvironmentError of kind `provision-failed` for limits that no sandbox here provides
 */
export async function policyOfSpec(spec: EnvironmentSpec, most: SandboxPolicy | undefined, workspace: string): Promise<SandboxPolicy> {
  let policy = most && (await realPolicy(most, workspace));
  for (const config of (spec.sandboxes ?? []).filter(({ enabled }) => enabled)) {
    const next = await realPolicy(policyFromSandboxConfig(config), workspace);
    policy = policy === undefined ? next : narrowPolicy(policy, next);
  }
  for (const rules of networksOf(spec)) {
    const { network } = policyFromEnvironmentSpec({ isolation: [], credentials: [], network: rules });
    if (policy === undefined) policy = { ...(await realPolicy({}, workspace)), ...(network && { network }) };
    else policy = { ...policy, network: narrowNetwork(policy.network, network) };
  }
  policy ??= await realPolicy({}, workspace);
  if (spec.resources === undefined) return policy;
  const { resources } = policyFromEnvironmentSpec({ isolation: [], credentials: [], resources: spec.resources }, policy);
  const memory = lower(policy.resources?.memory, resources?.memory);
  const cpus = Math.min(policy.resources?.cpus ?? Infinity, resources?.cpus ?? Infinity);
  return { ...policy, resources: { ...resources, ...(memory !== undefined && { memory }), ...(cpus !== Infinity && { cpus }) } };
}

/** A boundary of rules allows every public host that it doesn't deny, unless it names those that it allows. */
function networksOf({ network, isolation }: EnvironmentSpec): readonly NetworkPolicy[] {
  const boundaries = isolation.flatMap((boundary): NetworkPolicy[] =>
    boundary.type === "network-policy"
      ? [{ default: boundary.rules.some(({ action }) => action === "allow") ? "deny" : "allow", rules: boundary.rules }]
      : [],
  );
  return network === undefined ? boundaries : [network, ...boundaries];
}

function lower(a: number | string | undefined, b: number | string | undefined): number | string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return (parseSize(a) ?? Infinity) < (parseSize(b) ?? Infinity) ? a : b;
}
