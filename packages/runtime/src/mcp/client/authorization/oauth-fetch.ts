import { McpError } from "@keelson/protocol";
import { isPlainHttpElsewhere } from "../../../environment/secrets/plain-http.ts";
import type { Clock } from "../../../platform/clock.ts";
import { resolvePublic, type PublicAddresses, type ResolveHost } from "../../../transport/resolve-public.ts";
import type { Fetch } from "../bounded-fetch.ts";
import { FailedRequest, unauthorized } from "./failures.ts";

export interface OAuthFetchOptions {
  /** Name of the server for which is asked. */
  readonly server: string;
  readonly serverUrl: URL;
  /** Default: the platform's; to public addresses one that connects to what was judged. */
  readonly fetch?: Fetch | undefined;
  readonly resolve?: ResolveHost | undefined;
  readonly clock: Clock;
}

/** What asks authorization servers. Their addresses come from the server that wants tokens, which may be up to no good. */
export interface OAuthFetch {
  readonly fetch: Fetch;
  /** @throws FailedRequest where nothing may be sent there, and no person be sent there either */
  check(address: string | URL): Promise<void>;
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 256 * 1024;
const MAX_REDIRECTS = 3;

/** It rejects with `FailedRequest`, and gives responses whole. */
export function createOAuthFetch(options: OAuthFetchOptions): OAuthFetch {
  const { server, serverUrl, resolve, clock } = options;
  let isPublicServer: Promise<boolean> | undefined;
  const judge = (url: URL): Promise<PublicAddresses | undefined> =>
    // What is not found, a proxy may find.
    resolvePublic(url.hostname.replace(/^\[(.*)\]$/, "$1"), { ...(resolve && { resolve }) }).catch(() => undefined);
  const isPublic = (): Promise<boolean> => (isPublicServer ??= judge(serverUrl).then((judged) => judged?.ok !== false));
  const refused = (...[reason, problem]: DropFirst<Parameters<typeof unauthorized>>): FailedRequest =>
    new FailedRequest(unauthorized(server, reason, problem));

  const check = async (address: string | URL): Promise<void> => {
    const url = URL.parse(String(address));
    if (url === null || !/^https?:$/.test(url.protocol) || isPlainHttpElsewhere(url) || url.username !== "" || url.password !== "")
      throw refused("insecure-address", `it sends us to ${hostOf(url)} for authorization, which is no address with https.`);
    if ((await isPublic()) && (await judge(url))?.ok === false) throw isInside(url);
  };
  const isInside = (url: URL): FailedRequest =>
    refused("private-address", `it sends us to ${hostOf(url)} for authorization, which is not on the public internet, as it is itself.`);

  /** One that connects to what it judges: between a look and a request a name can change what it stands for. */
  const pinned = async (): Promise<Fetch> => {
    const { createGuardedFetch } = await import("../../../security/address/guarded-fetch.ts");
    // Our own limit is told in better words.
    const guarded = createGuardedFetch({ maxBytes: 2 * MAX_BYTES, ...(resolve && { resolve }) });
    return (url, init) => guarded(url, init as Parameters<typeof guarded>[1]);
  };

  const send = async (url: URL, init: RequestInit): Promise<Response> => {
    await check(url);
    const fetch = options.fetch ?? ((await isPublic()) ? await pinned() : globalThis.fetch);
    return fetch(url, { ...init, redirect: "manual" });
  };

  const follow = async (address: string | URL, init: RequestInit): Promise<Response> => {
    let url = new URL(address);
    for (let redirects = 0; ; redirects++) {
      const response = await send(url, init);
      const location = response.status >= 300 && response.status <= 399 ? response.headers.get("location") : null;
      if (location === null) return whole(response, () => tooLarge(server, url));
      await response.body?.cancel();
      const next = URL.parse(location, url.href);
      if (next?.origin !== url.origin)
        throw refused("foreign-redirect", `for authorization ${url.host} redirects to ${hostOf(next)}, which is another host.`);
      if (init.method === "POST" || redirects === MAX_REDIRECTS)
        throw refused("foreign-redirect", `for authorization ${url.host} redirects again and again, or what is secret.`);
      url = next;
    }
  };

  return {
    check,
    async fetch(address, init = {}) {
      const url = new URL(address);
      const { host } = url;
      const ending = new AbortController();
      const { promise: over, reject } = Promise.withResolvers<never>();
      const disarm = clock.after(TIMEOUT_MS, () => {
        reject(new FailedRequest(late(server, host)));
        ending.abort();
      });
      const { body, headers } = init;
      const given: RequestInit = { ...init, headers: new Headers(headers), signal: ending.signal };
      if (body instanceof URLSearchParams) given.body = body.toString();
      try {
        return await Promise.race([follow(address, given), over]);
      } catch (error) {
        if (error instanceof FailedRequest) throw error;
        if (isRefusal(error)) throw isInside(url);
        throw new FailedRequest(noResponse(server, host));
      } finally {
        disarm();
      }
    },
  };
}

type DropFirst<List extends readonly unknown[]> = List extends readonly [unknown, ...infer Rest] ? Rest : never;

/** Of the guarded fetch, which is loaded when it is needed. */
function isRefusal(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && cause.name === "AddressRefused";
}

async function whole(response: Response, tooLarge: () => Error): Promise<Response> {
  const { status, statusText, headers, body } = response;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return new Response(size === 0 ? null : Buffer.concat(chunks), { status, statusText, headers });
}

function hostOf(url: URL | null): string {
  return url === null ? "what is no address" : url.host || `a ${url.protocol} address`;
}

function tooLarge(server: string, { host }: URL): FailedRequest {
  const message = `The server "${server}" can't be used: for authorization ${host} sent more than ${MAX_BYTES} bytes.`;
  return new FailedRequest(new McpError({ kind: "protocol", server, message }));
}

function late(server: string, host: string): McpError {
  const message = `The server "${server}" can't be used: for authorization ${host} did not respond within ${TIMEOUT_MS} ms.`;
  return new McpError({ kind: "timeout", server, timeoutMs: TIMEOUT_MS, message });
}

function noResponse(server: string, host: string): McpError {
  return new McpError({
    kind: "transport",
    server,
    message: `The server "${server}" can't be used: for authorization ${host} did not respond.`,
  });
}
