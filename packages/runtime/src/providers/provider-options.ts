import { ModelError } from "@keelson/protocol";
import {
  createTransport,
  type FetchLike,
  type RequestOrigin,
  type Timeouts,
  type TlsOptions,
  type Transport,
  type TransportAnswer,
  type TransportRequest,
} from "../transport/index.ts";
import { limitedAnswer } from "./limited-answer.ts";
import type { RateLimiter } from "./rate-limiter.ts";

/** What every provider of a hosted API takes. */
export interface ProviderOptions {
  /** The key, or a function that gives the current one. Default: the vendor's environment variable, read with each request. */
  readonly apiKey?: string | (() => string | Promise<string>);
  /** Where the API is; a query in it is kept. */
  readonly baseUrl?: string;
  /** Carries the requests instead of the shared transport. */
  readonly fetch?: FetchLike;
  /** Added to every request; they win over ours. */
  readonly headers?: { readonly [name: string]: string };
  readonly timeouts?: Timeouts;
  readonly tls?: TlsOptions;
  /** Where proxies are read from; `false` uses none. Default `process.env`. */
  readonly proxyEnvironment?: { readonly [name: string]: string | undefined } | false;
  /** A transport that several providers share. */
  readonly transport?: Transport;
  /** Holds requests back to what the vendor grants; providers of one key share one. */
  readonly rateLimiter?: RateLimiter;
  /** What failures and the registry call this provider. */
  readonly name?: string;
  /** Taken where a request names no model. */
  readonly defaultModel?: string;
}

export interface ApiCall {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: readonly Uint8Array[];
  readonly signal?: AbortSignal | undefined;
  readonly origin: RequestOrigin;
}

/** Sends the requests of one provider: address, key and headers are settled here. */
export class ApiClient {
  readonly #options: ProviderOptions;
  readonly #provider: string;
  readonly #environmentVariable: string;
  readonly #keyOptional: boolean;
  readonly #authorize: (key: string, url: string) => { readonly [name: string]: string };
  readonly #fixedHeaders: { readonly [name: string]: string };
  readonly #ownHeaders: { readonly [name: string]: string };
  readonly #base: string;
  readonly #query: string;
  /** The last address, which is asked again and again. */
  #lastPath: string | undefined;
  #lastUrl = "";
  #transport: Transport | undefined;

  constructor(settings: {
    readonly options: ProviderOptions;
    readonly provider: string;
    readonly defaultBaseUrl: string;
    readonly environmentVariable: string;
    /** Local servers of the same wire want no key. */
    readonly keyOptional: boolean;
    readonly authorize: (key: string, url: string) => { readonly [name: string]: string };
    readonly headers?: { readonly [name: string]: string };
  }) {
    const { options } = settings;
    this.#options = options;
    this.#provider = settings.provider;
    this.#environmentVariable = settings.environmentVariable;
    this.#keyOptional = settings.keyOptional;
    this.#authorize = settings.authorize;
    this.#fixedHeaders = { "user-agent": "keelson", ...settings.headers };
    this.#ownHeaders = lowerCased(options.headers);
    const [address = "", query] = (options.baseUrl ?? settings.defaultBaseUrl).split("?", 2);
    this.#base = address.replace(/\/+$/, "");
    this.#query = query === undefined || query === "" ? "" : `?${query}`;
  }

  get base(): string {
    return this.#base;
  }

  async send({ method, path, body, signal, origin }: ApiCall): Promise<TransportAnswer> {
    const key = await this.#key(origin);
    const url = this.#urlOf(path);
    const headers = {
      ...this.#fixedHeaders,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(key !== undefined && this.#authorize(key, url)),
      ...this.#ownHeaders,
    };
    const transport = (this.#transport ??= this.#options.transport ?? createTransport(this.#transportOptions()));
    const request: TransportRequest = {
      method,
      url,
      headers,
      ...(body !== undefined && { body }),
      signal,
      timeouts: this.#options.timeouts,
      origin,
    };
    const { rateLimiter } = this.#options;
    return rateLimiter === undefined ? transport.send(request) : sendLimited(transport, request, rateLimiter);
  }

  #urlOf(path: string): string {
    if (this.#lastPath === path) return this.#lastUrl;
    const [pathname = "", query] = path.split("?", 2);
    this.#lastUrl = `${this.#base}${pathname}${query === undefined ? this.#query : `${this.#query === "" ? "?" : `${this.#query}&`}${query}`}`;
    this.#lastPath = path;
    return this.#lastUrl;
  }

  async #key(origin: RequestOrigin): Promise<string | undefined> {
    const { apiKey } = this.#options;
    let key: string | undefined;
    try {
      key = typeof apiKey === "function" ? await apiKey() : (apiKey ?? process.env[this.#environmentVariable]);
    } catch (cause) {
      throw new ModelError(
        {
          kind: "authentication",
          message: `the apiKey function of ${this.#provider} failed: ${cause instanceof Error ? cause.message : String(cause)}`,
          ...origin,
        },
        { cause },
      );
    }
    if (key !== undefined && key !== "") return key.trim();
    if (this.#keyOptional) return undefined;
    throw new ModelError({
      kind: "authentication",
      message: `no API key for ${this.#provider}: set ${this.#environmentVariable} or pass apiKey`,
      ...origin,
    });
  }

  #transportOptions(): Parameters<typeof createTransport>[0] {
    const { fetch, tls, proxyEnvironment } = this.#options;
    return {
      ...(fetch !== undefined && { fetch }),
      ...(tls !== undefined && { tls }),
      ...(proxyEnvironment !== undefined && { proxyEnvironment }),
    };
  }
}

/** Four bytes of a request are about a token. */
const BYTES_OF_TOKEN = 4;

async function sendLimited(transport: Transport, request: TransportRequest, limiter: RateLimiter): Promise<TransportAnswer> {
  const bytes = (request.body ?? []).reduce((sum, part) => sum + part.length, 0);
  const permit = await limiter.acquire({ tokens: Math.ceil(bytes / BYTES_OF_TOKEN), signal: request.signal });
  try {
    return limitedAnswer(await transport.send(request), limiter, permit);
  } catch (error) {
    permit.release();
    throw error;
  }
}

function lowerCased(headers: { readonly [name: string]: string } | undefined): { [name: string]: string } {
  return Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
}
