import { EnvironmentError, type SecretResolver } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { nodeCrypto } from "../../platform/node-crypto.ts";
import { isPlainHttpElsewhere } from "./plain-http.ts";
import { checkMethodOptions, type MethodOptions } from "../../json/check-method-options.ts";

const PLACEHOLDER_METHODS: MethodOptions<PlaceholderSecrets> = { swap: [1, { signal: true }] };

/** A secret that may be sent to some hosts and is known to nobody before that. */
export interface EdgeSecret {
  /** The variable in which a command finds the placeholder. */
  readonly variable: string;
  readonly reference: string;
  /** As in `api.github.com`, or `*.example.com` for all below it. */
  readonly hosts: readonly string[];
  /** Over plain HTTP anybody on the way can read it. Default false: only hosts of this machine. */
  readonly allowPlainHttp?: boolean | undefined;
}

export interface OutgoingHeaders {
  /** Where the request really goes: what a proxy connects to, not what a client says. */
  readonly url: URL;
  readonly headers: { readonly [name: string]: readonly string[] };
}

export interface PlaceholderSecrets {
  /** For the environment of commands: no value stands in it. */
  readonly env: { readonly [variable: string]: string };
  /**
   * The headers with values in the place of placeholders, those in Basic credentials included. For whoever sends the request; a proxy sees the
   * headers of plain HTTP alone, since those of HTTPS pass through it encrypted.
   * @throws EnvironmentError of kind `isolation-violation` when a placeholder is on its way to a host that it is not for
   */
  swap(request: OutgoingHeaders, options?: { readonly signal?: AbortSignal }): Promise<{ [name: string]: string[] }>;
}

export function createPlaceholderSecrets(options: {
  readonly secrets: SecretResolver;
  readonly allow: readonly EdgeSecret[];
}): PlaceholderSecrets {
  checkOptionNames("createPlaceholderSecrets", options, { secrets: true, allow: true });
  const { secrets } = options;
  const known = new Map(options.allow.map((secret) => [`keelson-placeholder-${nodeCrypto().randomBytes(16).toString("hex")}`, secret]));

  const swapped = async (text: string, url: URL, signal: AbortSignal | undefined): Promise<string> => {
    let result = text;
    for (const [placeholder, secret] of known) {
      if (!result.includes(placeholder)) continue;
      requireAllowed(secret, url);
      const value = await secrets.resolve(secret.reference, { ...(signal !== undefined && { signal }) });
      // A line break in a value would make a header of its rest.
      if (/[\r\n\0]/.test(value))
        throw new EnvironmentError({
          kind: "credential-failed",
          credential: secret.reference,
          message: `The secret ${secret.reference} has a line break in it, and can't be sent as a header.`,
        });
      result = result.replaceAll(placeholder, () => value);
    }
    return result;
  };

  const placeholders: PlaceholderSecrets = {
    env: Object.fromEntries([...known].map(([placeholder, { variable }]) => [variable, placeholder])),
    async swap({ url, headers }, { signal } = {}) {
      const result: { [name: string]: string[] } = {};
      for (const [name, values] of Object.entries(headers)) {
        result[name] = [];
        for (const value of values) {
          const basic = /^Basic +([A-Za-z0-9+/=_-]+)$/i.exec(value)?.[1];
          const user = basic === undefined ? undefined : Buffer.from(basic, "base64").toString("utf8");
          const other = user === undefined ? undefined : await swapped(user, url, signal);
          result[name].push(
            other === undefined || other === user ? await swapped(value, url, signal) : `Basic ${Buffer.from(other).toString("base64")}`,
          );
        }
      }
      return result;
    },
  };
  return checkMethodOptions("placeholders", placeholders, PLACEHOLDER_METHODS);
}

function requireAllowed({ reference, hosts, allowPlainHttp = false }: EdgeSecret, url: URL): void {
  const host = url.hostname.toLowerCase().replace(/\.$/, "");
  const isAllowed = hosts.some((pattern) => {
    const wanted = pattern.toLowerCase();
    return wanted.startsWith("*.") ? host.endsWith(wanted.slice(1)) && host.length >= wanted.length : host === wanted;
  });
  const refuse = (why: string): EnvironmentError =>
    new EnvironmentError({ kind: "isolation-violation", message: `The secret ${reference} was not sent to ${host}: ${why}` });
  if (!isAllowed) throw refuse(`it is for ${hosts.join(", ")} alone.`);
  if (!allowPlainHttp && isPlainHttpElsewhere(url)) throw refuse("plain HTTP can be read on its way. Use HTTPS, or allowPlainHttp.");
}
