import { ipVersion } from "../../../platform/ip-version.ts";

export interface HostPattern {
  /** In lower case, as it stands in a request: `xn--` for other letters, an IPv6 address without brackets. */
  readonly host: string;
  /** It stands for every name below `host`, not for `host` itself. */
  readonly below: boolean;
  readonly port: number | undefined;
}

/** Reads `example.com`, `*.example.com`, `example.com:8443`, `[2001:db8::1]:443`; `undefined` when it is none of them. */
export function parseHostPattern(text: string): HostPattern | undefined {
  const [, below, name, digits] = /^(\*\.)?(\[[^\]]+\]|[^:/@?#*\s]+|[0-9a-f]*:[0-9a-f:.]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  if (name === undefined) return undefined;
  const bare = ipVersion(text) === 6 ? text : name;
  const host = normalHost(bare);
  const port = digits === undefined || ipVersion(text) === 6 ? undefined : Number(digits);
  if (host === undefined || (below !== undefined && ipVersion(host) !== 0) || (port !== undefined && (port < 1 || port > 65_535)))
    return undefined;
  return { host, below: below !== undefined, port };
}

/**
 * A host in the one spelling in which it is compared: lower case, `xn--`, no dot at the end, IPv4 in four decimals whichever way it
 * was written (`2130706433`, `0x7f.1`, `0177.0.0.1`), IPv6 without brackets.
 */
export function normalHost(host: string): string | undefined {
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  // A zone names an interface of this machine.
  if (bare === "" || /[%/@?#\\\s]/.test(bare)) return undefined;
  const url = URL.parse(`http://${ipVersion(bare) === 6 ? `[${bare}]` : bare}/`);
  if (url === null || url.hostname === "") return undefined;
  const name = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  return name === "" || name.includes("..") ? undefined : name;
}

export function matchesHost({ host, below }: HostPattern, asked: string): boolean {
  return below ? asked.endsWith(`.${host}`) : asked === host;
}
