import type { Agent } from "node:http";
import { ModelError, type ModelFailure } from "@keelson/protocol";
import {
  checkAgent,
  createTransport,
  type FetchLike,
  type RequestOrigin,
  type Timeouts,
  type TlsOptions,
  type Transport,
  type TransportResponse,
  type TransportRequest,
} from "../transport/index.ts";
import type { OptionNames } from "../json/option-names.ts";
import { limitedResponse } from "./limited-response.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import { WithheldKeys } from "./withheld-keys.ts";

/** What every provider of a hosted API takes. */
export interface ProviderOptions {
  /** The key, or a function that gives the current one. Default: the vendor's environment variable, read with each request. */
  readonly apiKey?: string | (() => string | Promise<string>) | undefined;
  /** Where the API is; a query in it is kept. */
  readonly baseUrl?: string | undefined;
  /** Carries the requests instead of the shared transport. */
  readonly fetch?: FetchLike | undefined;
  /** Added to every request; they win over ours. */
  readonly headers?: { readonly [name: string]: string } | undefined;
  readonly timeouts?: Timeouts | undefined;
  /** An agent of `node:http`, or `node:https` where the address is https: makes and keeps the connections by its own options. */
  readonly agent?: Agent | undefined;
  readonly tls?: TlsOptions | undefined;
  /** Where proxies are read from; `false` uses none. Default `process.env`. */
  readonly proxyEnvironment?: { readonly [name: string]: string | undefined } | false | undefined;
  /** A transport that several providers share. */
  readonly transport?: Transport | undefined;
  /** Holds requests back to what the vendor grants; providers of one key share one. */
  readonly rateLimiter?: RateLimiter | undefined;
  /** What failures and the registry call this provider. */
  readonly name?: string | undefined;
  /** Taken where a request names no model. */
  readonly defaultModel?: string | undefined;
}

/** Those of every such provider; each adds its own. */
export const PROVIDER_OPTIONS: OptionNames<ProviderOptions> = {
  apiKey: true,
  baseUrl: true,
  fetch: true,
  headers: true,
  timeouts: true,
  agent: true,
  tls: true,
  proxyEnvironment: true,
  transport: true,
  rateLimiter: true,
  name: true,
  defaultModel: true,
};

export interface ApiCall {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: readonly Uint8Array[];
  readonly signal?: AbortSignal | undefined;
  readonly resendLost?: ((failure: ModelFailure) => boolean) | undefined;
  readonly origin: RequestOrigin;
}

/** Sends the requests of one provider: address, key and headers are settled here. */
export class ApiClient {
  /** What it sends to be let in, which no failure may tell. */
  readonly keys: WithheldKeys = new WithheldKeys();
  readonly #options: ProviderOptions;
  readonly #provider: string;
  readonly #environmentVariable: string;
  readonly #keyOptional: boolean;
  readonly #authorize: (key: string, url: string) => { readonly [name: string]: string };
  readonly #fixedHeaders: { readonly [name: string]: string };
  readonly #ownHeaders: { readonly [name: string]: string };
  readonly #base: string;
  readonly #query: string;
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
    checkAgent(options.agent, options);
    this.#provider = settings.provider;
    this.#environmentVariable = settings.environmentVariable;
    this.#keyOptional = settings.keyOptional;
    this.#authorize = settings.authorize;
    this.#fixedHeaders = { "user-agent": "keelson", ...settings.headers };
    this.#ownHeaders = lowerCased(options.headers);
    const [address = "", query] = (options.baseUrl ?? settings.defaultBaseUrl).split("?", 2);
    this.#base = address.replace(/\/+$/, "");
    this.#query = query === undefined || query === "" ? "" : `?${query}`;
    this.keys.addNamed(Object.entries(this.#ownHeaders));
    this.keys.addNamed(new URLSearchParams(query));
  }

  get base(): string {
    return this.#base;
  }

  /** Rejects with `ModelError`. */
  async send({ method, path, body, signal, resendLost, origin }: ApiCall): Promise<TransportResponse> {
    const { apiKey, rateLimiter, timeouts } = this.#options;
    const given = typeof apiKey === "function" ? await this.#ask(apiKey, origin) : (apiKey ?? process.env[this.#environmentVariable]);
    const key = given === undefined || given === "" ? undefined : given.trim();
    if (key === undefined && !this.#keyOptional) {
      const message = `no API key for ${this.#provider}: set ${this.#environmentVariable} or pass apiKey`;
      throw new ModelError({ kind: "authentication", message, progress: "unsent", ...origin });
    }
    const { url, headers } = this.#address(path, key, body !== undefined);
    const request = { method, url, headers, ...(body !== undefined && { body }), signal, timeouts, resendLost, origin };
    const transport = (this.#transport ??= this.#options.transport ?? createTransport(this.#transportOptions()));
    return rateLimiter === undefined ? transport.send(request) : sendLimited(transport, request, rateLimiter);
  }

  #address(path: string, key: string | undefined, hasBody: boolean): Pick<TransportRequest, "url" | "headers"> {
    if (key !== undefined) this.keys.add(key);
    const [pathname = "", query] = path.split("?", 2);
    const url = `${this.#base}${pathname}${query === undefined ? this.#query : `${this.#query === "" ? "?" : `${this.#query}&`}${query}`}`;
    const headers = {
      ...this.#fixedHeaders,
      ...(hasBody && { "content-type": "application/json" }),
      ...(key !== undefined && this.#authorize(key, url)),
      ...this.#ownHeaders,
    };
    return { url, headers };
  }

  async #ask(apiKey: () => string | Promise<string>, origin: RequestOrigin): Promise<string> {
    try {
      return await apiKey();
    } catch (cause) {
      throw new ModelError(
        {
          kind: "authentication",
          progress: "unsent",
          message: `the apiKey function of ${this.#provider} failed: ${cause instanceof Error ? cause.message : String(cause)}`,
          ...origin,
        },
        { cause },
      );
    }
  }

  #transportOptions(): Parameters<typeof createTransport>[0] {
    const { agent, fetch, tls, proxyEnvironment } = this.#options;
    return {
      ...(agent !== undefined && { agent }),
      ...(fetch !== undefined && { fetch }),
      ...(tls !== undefined && { tls }),
      ...(proxyEnvironment !== undefined && { proxyEnvironment }),
    };
  }
}

/** Four bytes of a request are about a token. */
const BYTES_OF_TOKEN = 4;

async function sendLimited(transport: Transport, request: TransportRequest, limiter: RateLimiter): Promise<TransportResponse> {
  const bytes = (request.body ?? []).reduce((sum, part) => sum + part.length, 0);
  const permit = await limiter.acquire({ tokens: Math.ceil(bytes / BYTES_OF_TOKEN), signal: request.signal });
  try {
    return limitedResponse(await transport.send(request), limiter, permit);
  } catch (error) {
    permit.release();
    throw error;
  }
}

/** With names in lower case, and without the length of the body, which is the transport's to tell. */
function lowerCased(headers: { readonly [name: string]: string } | undefined): { [name: string]: string } {
  const { "content-length": _length, ...others } = Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return others;
}
