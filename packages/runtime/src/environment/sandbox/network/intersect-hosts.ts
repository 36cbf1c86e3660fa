import { isIP } from "node:net";
import { type HostPattern, matchesHost, parseHostPattern } from "./host-pattern.ts";
import { USUAL_PORTS } from "./usual-ports.ts";

/** Host patterns for what both lists hold. */
export function intersectHosts(a: readonly string[], b: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const one of a)
    for (const other of b) for (const pattern of common(parseHostPattern(one), parseHostPattern(other))) found.add(pattern);
  return [...found];
}

/** Returns the host patterns for what a list holds at the ports that a policy without a list reaches: 80 and 443. */
export function atUsualPorts(hosts: readonly string[]): readonly string[] {
  return hosts.filter((host) => {
    const port = parseHostPattern(host)?.port;
    return port === undefined || USUAL_PORTS.includes(port);
  });
}

function common(a: HostPattern | undefined, b: HostPattern | undefined): readonly string[] {
  if (a === undefined || b === undefined) return [];
  const narrower = holds(a, b) ? b : holds(b, a) ? a : undefined;
  if (narrower === undefined) return [];
  const { host, below } = narrower;
  if (a.port === undefined && b.port === undefined) return [below ? `*.${host}` : host];
  const name = isIP(host) === 6 ? `[${host}]` : below ? `*.${host}` : host;
  const ports = portsOf(a).filter((port) => portsOf(b).includes(port));
  return ports.map((port) => `${name}:${port}`);
}

/** Whether every host of `b` is one of `a`. */
function holds(a: HostPattern, b: HostPattern): boolean {
  return b.below ? a.below && (b.host === a.host || b.host.endsWith(`.${a.host}`)) : matchesHost(a, b.host);
}

function portsOf({ port }: HostPattern): readonly number[] {
  return port === undefined ? USUAL_PORTS : [port];
}
