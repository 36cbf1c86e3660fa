import { request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { pipeline, Readable, Transform } from "node:stream";
import { checkOptionNames } from "../../json/option-names.ts";
import { contentDecoder } from "../../transport/content-decoder.ts";
import { literalAddress } from "../../transport/public-address.ts";
import { resolvePublic, type ResolveHost } from "../../transport/resolve-public.ts";
import { AddressRefused, guardedLookup } from "./guarded-lookup.ts";
import { BOUND_OPTION } from "../../json/option-rules.ts";

export interface GuardedFetchOptions {
  /** When given, only these hosts are fetched from: `example.com`, or `*.example.com` for all below it. */
  readonly hosts?: readonly string[] | undefined;
  /** Hosts that may be reached though their addresses aren't public, such as `localhost`; an address by itself, too. Default: none. */
  readonly inside?: readonly string[] | undefined;
  /** Ports that may be connected to. Default: any. */
  readonly ports?: readonly number[] | undefined;
  /** Default 10. */
  readonly maxRedirects?: number | undefined;
  /** Bytes of a body, once unpacked, before it fails. Default 10 MiB. */
  readonly maxBytes?: number | undefined;
  /** Without a byte for so long a request fails. Default 30,000. */
  readonly idleTimeoutMs?: number | undefined;
  /** Default: what programs of this machine get. */
  readonly resolve?: ResolveHost | undefined;
}

/** As the platform's `fetch` is called. A body is text or bytes: it may have to be sent again after a redirect. */
export type GuardedFetch = (
  address: string | URL,
  init?: {
    readonly method?: string;
    readonly headers?: ConstructorParameters<typeof Headers>[0];
    readonly body?: string | Uint8Array | null;
    readonly signal?: AbortSignal | null;
    readonly redirect?: "follow" | "error" | "manual";
  },
) => Promise<Response>;

/**
 * A `fetch` for tools that get addresses from models. It goes over http and https to public addresses only, in whatever way they are
 * written: a name is resolved once, all of its addresses are judged, and the connection goes to one of these. Each redirect is judged
 * anew. It uses no proxy, and rejects with a `TypeError` as `fetch` does, whose cause says why.
 *
 * ```ts
 * const fetch = createGuardedFetch();
 * await fetch("http://169.254.169.254/latest/meta-data"); // TypeError, caused by AddressRefused
 * ```
 */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  checkOptionNames("createGuardedFetch", options, {
    hosts: true,
    inside: true,
    ports: true,
    maxRedirects: true,
    maxBytes: BOUND_OPTION,
    idleTimeoutMs: true,
    resolve: true,
  });
  const { maxRedirects = 10 } = options;

  return async (address, init = {}) => {
    const { redirect = "follow", signal } = init;
    let hop: Hop = {
      url: new URL(address),
      method: (init.method ?? "GET").toUpperCase(),
      headers: new Headers(init.headers),
      body: init.body ?? undefined,
    };
    for (let redirects = 0; ; redirects++) {
      signal?.throwIfAborted();
      const message = await failingAsFetch(hop.url, async () => send(hop, options, signal ?? undefined));
      const { location } = message.headers;
      if (redirect === "manual" || location === undefined || ![301, 302, 303, 307, 308].includes(message.statusCode ?? 0))
        return responseOf(message, hop, redirects > 0, options);
      message.destroy();
      if (redirect === "error") throw new TypeError(`fetch failed: ${hop.url.host} redirects`);
      if (redirects >= maxRedirects) throw new TypeError(`fetch failed: more than ${maxRedirects} redirects`);
      hop = nextHop(hop, location, message.statusCode ?? 0);
    }
  };
}

interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | Uint8Array | undefined;
}

async function send(hop: Hop, options: GuardedFetchOptions, signal: AbortSignal | undefined): Promise<IncomingMessage> {
  const { url, method, headers, body } = hop;
  const { idleTimeoutMs = 30_000 } = options;
  refuseUnlisted(url, options);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const guard = {
    ...(options.resolve && { resolve: options.resolve }),
    mayUse: (address: string) => isListed(url.hostname, options.inside) || (options.inside ?? []).includes(address),
  };
  // What is written as an address is never looked up.
  if (literalAddress(host) !== undefined) {
    const resolved = await resolvePublic(host, guard);
    if (!resolved.ok) throw new AddressRefused(`Refused: ${resolved.reason}.`);
  }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = (url.protocol === "https:" ? requestHttps : requestHttp)(
    url,
    {
      method,
      headers: { "accept": "*/*", "accept-encoding": "gzip, deflate, br", ...Object.fromEntries(headers) },
      lookup: guardedLookup(guard),
      // A connection that is kept would be of an address that was judged for another request.
      agent: false,
      timeout: idleTimeoutMs,
      ...(signal && { signal }),
    },
    resolve,
  );
  request.on("error", reject);
  request.on("timeout", () => request.destroy(new Error(`${url.host} sent nothing for ${idleTimeoutMs} ms`)));
  request.end(body);
  return promise;
}

/** @throws AddressRefused */
function refuseUnlisted(url: URL, { hosts, ports }: GuardedFetchOptions): void {
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new AddressRefused(`Refused: ${url.protocol} is neither http nor https.`);
  if (url.username !== "" || url.password !== "")
    throw new AddressRefused("Refused: a user or password stands in the address. Send it in a header.");
  if (hosts !== undefined && !isListed(url.hostname, hosts))
    throw new AddressRefused(`Refused: ${url.hostname} is not on the list of hosts (${hosts.join(", ") || "none"}).`);
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  if (ports !== undefined && !ports.includes(port))
    throw new AddressRefused(`Refused: port ${port} is not on the list of ports (${ports.join(", ")}).`);
}

/** Whether a host, as `URL` writes it, is on a list. The dot at the end of a whole name makes no difference. */
function isListed(host: string, patterns: readonly string[] = []): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  return patterns.some((pattern) => {
    const listed = pattern.toLowerCase().replace(/\.$/, "");
    return listed.startsWith("*.") ? name.endsWith(listed.slice(1)) : name === listed;
  });
}

/** What a redirect asks for, as browsers do: what was posted becomes a read, and another origin is told no credentials. */
function nextHop({ url, method, headers, body }: Hop, location: string, status: number): Hop {
  const next = URL.parse(location, url.href);
  if (next === null) throw new TypeError(`fetch failed: ${url.host} redirects to what is no address`);
  const rewritten = (status === 303 && method !== "HEAD") || ((status === 301 || status === 302) && method === "POST");
  const passed = new Headers(headers);
  if (rewritten) for (const name of ["content-type", "content-length", "content-encoding", "content-language"]) passed.delete(name);
  if (next.origin !== url.origin) for (const name of ["authorization", "proxy-authorization", "cookie", "host"]) passed.delete(name);
  return { url: next, method: rewritten ? "GET" : method, headers: passed, body: rewritten ? undefined : body };
}

function responseOf(
  message: IncomingMessage,
  { url, method }: Hop,
  redirected: boolean,
  { maxBytes = 10 * 1024 * 1024 }: GuardedFetchOptions,
): Response {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(message.headersDistinct)) for (const value of values) headers.append(name, value);
  const status = message.statusCode ?? 0;
  const hasBody = method !== "HEAD" && ![204, 205, 304].includes(status);
  if (!hasBody) message.resume();
  const body = hasBody ? Readable.toWeb(bounded(message, maxBytes)) : null;
  const response = new Response(body as ReadableStream<Uint8Array> | null, { status, statusText: message.statusMessage ?? "", headers });
  Object.defineProperties(response, { url: { value: url.href }, redirected: { value: redirected } });
  return response;
}

/** The body unpacked, up to so many bytes. */
function bounded(message: IncomingMessage, maxBytes: number): Readable {
  let length = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      length += chunk.length;
      if (length > maxBytes) done(new Error(`The response has more than ${maxBytes} bytes.`));
      else done(null, chunk);
    },
  });
  const decoder = contentDecoder(message.headers["content-encoding"] ?? "");
  // Whoever reads the response learns of the error from it.
  const noted = (): void => {};
  return decoder === undefined ? pipeline(message, limit, noted) : pipeline(message, decoder, limit, noted);
}

async function failingAsFetch<Value>(url: URL, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof Error && cause.name === "AbortError") throw cause;
    throw new TypeError(`fetch failed for ${url.host}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
