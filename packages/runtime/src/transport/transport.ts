import { createFetchTransport } from "./fetch-transport.ts";
import type { ByteStream } from "./byte-stream.ts";
import { createDirectTransport } from "./direct-transport.ts";
import { createProxiedTransport } from "./proxied-transport.ts";
import { proxyVariables } from "./proxy-variables.ts";
import type { Timeouts } from "./timeouts.ts";
import type { TlsOptions } from "./tls-options.ts";

/** Who asks, for the failure that a caller sees. */
export interface RequestOrigin {
  readonly provider?: string;
  readonly model?: string;
}

export interface TransportRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  /** Sent one after the other, without a copy. */
  readonly body?: readonly Uint8Array[];
  readonly signal?: AbortSignal | undefined;
  readonly timeouts?: Timeouts | undefined;
  readonly origin?: RequestOrigin;
}

export interface TransportAnswer {
  readonly status: number;
  /** `name` in lower case. Values of a repeated header are joined by ", ". */
  header(name: string): string | undefined;
  readonly body: ByteStream;
}

/**
 * Carries one HTTP request. `send` resolves when the headers are there and rejects with `ModelError`: `cancelled` when the
 * signal fired, else `server-error`. Nothing is retried, and redirects are not followed. The caller must read the body to its
 * end, or `close` or `release` it.
 */
export interface Transport {
  send(request: TransportRequest): Promise<TransportAnswer>;
  /** Closes the idle connections; requests under way are not touched. */
  close(): void;
}

/** The part of the platform's `fetch` that is called. */
export type FetchLike = (
  url: string,
  init: { method: string; headers: Record<string, string>; body?: Uint8Array<ArrayBuffer>; signal: AbortSignal; redirect: "manual" },
) => Promise<Response>;

export interface TransportOptions {
  /** Sends the requests instead; proxy and TLS are then its own concern. */
  readonly fetch?: FetchLike;
  readonly tls?: TlsOptions;
  /** Where `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` are read. One that can't be used fails the requests that it is for. Default `process.env`; `false` uses no proxy. */
  readonly proxyEnvironment?: { readonly [name: string]: string | undefined } | false;
}

let shared: Transport | undefined;

/** A transport with connections of its own, unless the options are empty: then it is the one that all share. */
export function createTransport(options: TransportOptions = {}): Transport {
  if (options.fetch !== undefined) return createFetchTransport(options.fetch);
  if (options.tls !== undefined || options.proxyEnvironment !== undefined) return transportOver(options);
  return (shared ??= transportOver({}));
}

function transportOver({ tls, proxyEnvironment = process.env }: TransportOptions): Transport {
  const proxies = proxyEnvironment === false ? undefined : proxyVariables(proxyEnvironment);
  return proxies === undefined ? createDirectTransport(tls) : createProxiedTransport(proxies, tls);
}
