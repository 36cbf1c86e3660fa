import { OrchestratorError, type JsonValue } from "@keelson/protocol";
import type { Clock } from "keelson/session";
import { valueOf, type Answer } from "./answer.ts";
import { UnreachableError } from "./passing-failure.ts";

export interface IngressOptions {
  /** Where Restate takes requests, as in "http://localhost:8080". */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  /** How long a request is sent again while Restate can't be reached or does not answer. */
  readonly retryForMs: number;
}

/** Statuses with which Restate, or what stands before it, asks for patience. */
const BUSY: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);

/**
 * How long 404 is no answer yet: the ingress hears of a deployment a moment after it was registered, and of all of them a moment after the
 * server was started (restate-server 1.7.12).
 */
const REGISTRATION_MS = 5_000;

/** How long a request may take: Restate keeps one open until a worker has answered. */
const REQUEST_MS = 60_000;

/** The way into Restate. A request is sent again until it is answered. */
export interface Ingress {
  /** Calls a handler of the service, which reads, and waits for its answer. */
  ask<T extends JsonValue>(handler: string, service: string, request: object): Promise<T>;
  /** The same for one that writes: however often the request is sent, it is heeded once. */
  tell<T extends JsonValue>(handler: string, service: string, request: object): Promise<T>;
  /** Has a handler of an object called, and waits for nothing but that Restate has noted it. */
  send(handler: string, object: string, key: string): Promise<void>;
}

export function createIngress({ url, headers, fetch, clock, retryForMs }: IngressOptions): Ingress {
  const base = url.replace(/\/+$/, "");
  return {
    ask: async <T extends JsonValue>(handler: string, service: string, request: object) =>
      valueOf((await persist(`${service}/${handler}`, jsonOf(request))) as Answer<T>),
    async tell<T extends JsonValue>(handler: string, service: string, request: object) {
      const { body, headers } = jsonOf(request);
      const once = { body, headers: { ...headers, "idempotency-key": globalThis.crypto.randomUUID() } };
      return valueOf((await persist(`${service}/${handler}`, once)) as Answer<T>);
    },
    async send(handler, object, key) {
      await persist(`${object}/${encodeURIComponent(key)}/${handler}/send`, { headers: {} });
    },
  };

  async function persist(path: string, request: OwnRequest): Promise<unknown> {
    const reachableBy = clock.now() + retryForMs;
    let registeredBy: number | undefined;
    for (let delay = 50; ; delay = Math.min(delay * 2, 2000)) {
      const outcome = await attempt(path, request);
      if (!OrchestratorError.is(outcome)) return outcome.json;
      let until = reachableBy;
      if (outcome instanceof UnregisteredError) until = registeredBy ??= clock.now() + Math.min(retryForMs, REGISTRATION_MS);
      else if (!(outcome instanceof UnreachableError)) throw outcome;
      if (clock.now() + delay > until) throw outcome;
      await new Promise<void>((resolve) => void clock.after(delay, resolve));
    }
  }

  /** The answer, or why there is none. */
  async function attempt(path: string, request: OwnRequest): Promise<{ readonly json: unknown } | OrchestratorError> {
    let said: string;
    let status: number;
    try {
      const response = await fetch(`${base}/${path}`, {
        method: "POST",
        ...request,
        headers: { ...headers, ...request.headers },
        signal: AbortSignal.timeout(REQUEST_MS),
      });
      if (response.ok) return { json: await response.json() };
      status = response.status;
      said = `${status} ${(await response.text()).slice(0, 500)}`;
    } catch (error) {
      return new UnreachableError(`Restate can't be reached at ${base}: ${reasonOf(error)}`, error);
    }
    if (BUSY.has(status)) return new UnreachableError(`Restate at ${base} did not answer ${path}: ${said}`);
    const message = `Restate at ${base} refused ${path}: ${said}.`;
    if (status === 404) return new UnregisteredError(`${message} Was the deployment registered with this server, under this name?`);
    return new OrchestratorError({ kind: "other", message });
  }
}

class UnregisteredError extends OrchestratorError {
  constructor(message: string) {
    super({ kind: "other", message });
  }
}

/** What `fetch` says itself is that it failed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

interface OwnRequest {
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
}

function jsonOf(request: object): { readonly body: string; readonly headers: Readonly<Record<string, string>> } {
  return { body: JSON.stringify(request), headers: { "content-type": "application/json" } };
}
