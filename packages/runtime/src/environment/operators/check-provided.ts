import { EnvironmentError, type CredentialRef, type EnvironmentSpec, type IsolationBoundary, type ResourceLimits } from "@keelson/protocol";

/** What an environment can provide. */
export interface Provided {
  /** As in "The process environment". */
  readonly name: string;
  readonly boundaries: readonly IsolationBoundary["type"][];
  readonly resources: readonly (keyof ResourceLimits)[];
  readonly injections: readonly CredentialRef["injection"]["type"][];
  readonly hasNetworkRules: boolean;
  readonly hasSandboxes: boolean;
}

/**
 * Refuses a spec before anything runs.
 * @throws EnvironmentError `provision-failed`, naming the first thing that the environment doesn't provide
 */
export function checkProvided(
  spec: EnvironmentSpec,
  { name, boundaries, resources, injections, hasNetworkRules, hasSandboxes }: Provided,
): void {
  for (const { type } of spec.isolation) check(name, "the boundary", type, boundaries);
  for (const resource of Object.keys(spec.resources ?? {})) check(name, "a limit of", resource, resources);
  for (const { injection } of spec.credentials) check(name, "credentials by", injection.type, injections);
  const isLimited = spec.network?.default === "deny" || spec.network?.rules.some(({ action }) => action === "deny");
  if (isLimited && !hasNetworkRules) throw notProvided(`${name} can't keep an operator from the network.`);
  if (!hasSandboxes && spec.sandboxes?.some(({ enabled }) => enabled)) throw notProvided(`${name} holds commands and files in no sandbox.`);
}

function check(name: string, what: string, wanted: string, provided: readonly string[]): void {
  if (provided.includes(wanted)) return;
  const instead = provided.length === 0 ? "none" : provided.map((word) => `"${word}"`).join(", ");
  throw notProvided(`${name} doesn't provide ${what} "${wanted}" (of this kind it has ${instead}).`);
}

function notProvided(message: string): EnvironmentError {
  return new EnvironmentError({ kind: "provision-failed", message: `${message} Choose an environment that does, or change the spec.` });
}
