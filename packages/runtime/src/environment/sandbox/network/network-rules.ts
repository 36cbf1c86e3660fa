import { isIP } from "node:net";
import type { HostVerdict } from "@keelson/protocol";
import type { NetworkPolicyConfig } from "../sandbox-policy.ts";
import { type HostPattern, matchesHost, normalHost, parseHostPattern } from "./host-pattern.ts";
import { isPublicAddress } from "../../../transport/public-address.ts";
import { USUAL_PORTS } from "./usual-ports.ts";

export interface NetworkRules {
  /** Whether a rule denies it, as a name or as the address that a name stands for. */
  denies(host: string, port: number): boolean;
  /** Why a connection is refused before its name is resolved; `undefined` when nothing speaks against it. */
  refusal(host: string, port: number): string | undefined;
  /** True if nothing but the policy's list speaks against the connection, so that a person may open the host. */
  isUnlisted(host: string, port: number): boolean;
  /** A port other than 80 and 443 that a rule names: what is spoken there is not known. */
  isNamedPort(host: string, port: number): boolean;
}

/**
 * Judges hosts by a policy: denied wins; without a list of allowed ones every public host is.
 * @param judge what is said of a host at this moment, beside the policy
 */
export function createNetworkRules(
  { allowedDomains, deniedDomains = [] }: NetworkPolicyConfig,
  judge: (host: string, port: number) => HostVerdict = () => "unlisted",
): NetworkRules {
  const allowed = allowedDomains?.map(readPattern);
  const denied = deniedDomains.map(readPattern);
  const isNamedPort = (host: string, port: number): boolean =>
    allowed?.some((pattern) => pattern.port === port && matchesHost(pattern, host)) === true ||
    (!USUAL_PORTS.includes(port) && judge(host, port) === "open");
  const denies = (host: string, port: number): boolean =>
    denied.some((pattern) => matchesHost(pattern, host) && (pattern.port === undefined || pattern.port === port));
  const barred = (host: string, port: number): string | undefined => {
    if (normalHost(host) !== host) return `${host} is no host`;
    if (denies(host, port)) return `the policy denies ${host}`;
    if (judge(host, port) === "denied") return `a rule denies ${host}`;
    return isIP(host) !== 0 && !isPublicAddress(host) ? `${host} is not a public address` : undefined;
  };
  return {
    denies,
    isNamedPort,
    isUnlisted: (host, port) => allowed !== undefined && barred(host, port) === undefined,
    refusal(host, port) {
      const reason = barred(host, port);
      if (reason !== undefined) return reason;
      if (judge(host, port) === "open") return undefined;
      if (allowed !== undefined && !allowed.some((pattern) => matchesHost(pattern, host))) return `the policy does not allow ${host}`;
      if (allowed?.some((pattern) => matchesHost(pattern, host) && pattern.port === undefined) !== false && USUAL_PORTS.includes(port))
        return undefined;
      return isNamedPort(host, port) ? undefined : `the policy does not allow port ${port} of ${host}`;
    },
  };
}

function readPattern(text: string): HostPattern {
  const pattern = parseHostPattern(text);
  if (pattern === undefined) throw new TypeError(`${JSON.stringify(text)} is no host`);
  return pattern;
}
