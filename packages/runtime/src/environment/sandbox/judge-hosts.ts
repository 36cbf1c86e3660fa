import { isIP } from "node:net";
import type { CallEffects } from "@keelson/protocol";
import { matchesHost, normalHost, parseHostPattern, type HostPattern } from "./network/host-pattern.ts";
import { isPublicAddress } from "../../transport/public-address.ts";
import type { NetworkPolicyConfig } from "./sandbox-policy.ts";

/** The hosts of a call that a policy refuses on every port, a sentence each. Denied wins; without a list of allowed hosts every public one is allowed. */
export function judgeHosts(network: NetworkPolicyConfig, { hosts = [] }: CallEffects): readonly string[] {
  return [...new Set(hosts)].flatMap((host) => {
    const why = refusal(network, host);
    return why === undefined ? [] : [`It connects to ${JSON.stringify(host)}${why}.`];
  });
}

/** The hosts of a call that are refused for no other reason than that the policy does not list them. */
export function unlistedHosts(network: NetworkPolicyConfig | undefined, { hosts = [] }: CallEffects): readonly string[] {
  return network?.enabled === true ? [...new Set(hosts)].filter((host) => refusal(network, host) === UNLISTED) : [];
}

const UNLISTED = ", which the policy does not allow";

function refusal({ enabled, allowedDomains, deniedDomains = [] }: NetworkPolicyConfig, given: string): string | undefined {
  const host = normalHost(given);
  if (host === undefined) return ", which is no host";
  const denied = patterns(deniedDomains);
  if (denied.some((pattern) => pattern.port === undefined && matchesHost(pattern, host))) return ", which the policy denies";
  if (isLoopback(host)) return undefined;
  if (!enabled) return ", and the policy gives no network";
  if (isIP(host) !== 0 && !isPublicAddress(host)) return ", which is no public address";
  if (allowedDomains === undefined || patterns(allowedDomains).some((pattern) => matchesHost(pattern, host))) return undefined;
  return UNLISTED;
}

/** What listens there is the command's own. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function patterns(hosts: readonly string[]): readonly HostPattern[] {
  return hosts.flatMap((host) => parseHostPattern(host) ?? []);
}
