import { ModelError } from "@keelson/protocol";
import { withoutBrackets } from "./http-address.ts";
import type { RequestOrigin } from "./transport.ts";

export type ProxyVariables = { readonly [name: string]: string };

/** As other programs do: a name in lower case wins, and `ALL_PROXY` holds where the scheme has no proxy of its own. */
const NAMES = {
  https: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
  http: ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"],
  none: ["no_proxy", "NO_PROXY"],
} as const;

/** What of an environment names proxies; `undefined` when nothing does. */
export function proxyVariables(environment: { readonly [name: string]: string | undefined }): ProxyVariables | undefined {
  const isSet = (name: string): boolean => (environment[name] ?? "").trim() !== "";
  const found = [...new Set(Object.values(NAMES).flat())].filter(isSet);
  if (!found.some((name) => !name.toLowerCase().startsWith("no_"))) return undefined;
  return Object.fromEntries(found.map((name) => [name, (environment[name] as string).trim()]));
}

/** The proxy for one address. */
export interface ProxySettings {
  /** Which variable names it. */
  readonly variable: string;
  /** What Node's agents are told. They leave out what they can't read, and would ask the server directly. */
  readonly environment: { readonly [name in "https_proxy" | "http_proxy" | "no_proxy"]?: string };
}

/**
 * @returns nothing where no variable names a proxy for this address, or it is exempt from one that can't be used
 * @throws ModelError where a variable names a proxy for this address that can't be used
 */
export function proxySettings(variables: ProxyVariables, address: URL, origin: RequestOrigin | undefined): ProxySettings | undefined {
  const scheme = address.protocol === "https:" ? "https" : "http";
  const variable = NAMES[scheme].find((one) => variables[one] !== undefined);
  if (variable === undefined) return undefined;
  const exempt = NAMES.none.map((one) => variables[one]).find((list) => list !== undefined);
  const url = proxyAddress(variables[variable] as string);
  if (typeof url === "string")
    return { variable, environment: { [`${scheme}_proxy`]: url, ...(exempt !== undefined && { no_proxy: exempt }) } };
  if (exempt !== undefined && isExempt(address, exempt)) return undefined;
  throw new ModelError({
    kind: "other",
    message: `${variable} ${url.problem}, so that ${address.host} is not asked: set it to http://host:port or https://host:port, unset it, or name the host in NO_PROXY`,
    progress: "unsent",
    ...origin,
  });
}

/** Its value is not told: it may hold a password. */
function proxyAddress(value: string): string | { readonly problem: string } {
  // As curl does, a host alone is one that speaks HTTP.
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (!URL.canParse(text)) return { problem: "is no address of a proxy" };
  const { protocol, hostname } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:")
    return { problem: `names a proxy that speaks ${protocol.slice(0, -1)}, which can't be used` };
  return hostname === "" ? { problem: "names no host of a proxy" } : text;
}

function isExempt({ protocol, hostname: bracketed, port }: URL, list: string): boolean {
  const hostname = withoutBrackets(bracketed);
  const ownPort = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
  return list
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      const [, name = "", onPort] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
      if (onPort !== undefined && Number(onPort) !== ownPort) return false;
      const suffix = name.replace(/^\*?\./, "");
      return name === "*" || hostname === name || (suffix !== name && hostname.endsWith(`.${suffix}`));
    });
}
