import { type InferEvent, type InferOptions, type InferRequest, ModelError, type Provider } from "@keelson/protocol";
import { CIRCUIT_OPEN } from "./circuit-open.ts";
import { canPoll, type PolledEvents } from "./polled-events.ts";
import { platformClock, type ProviderClock } from "./rate-limiter.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { checkMethodOptions } from "../json/check-method-options.ts";
import { PROVIDER_METHODS } from "../json/interface-methods.ts";

export interface CircuitBreakerOptions {
  /** Failures in a row after which a model is left alone. Default 5. */
  readonly failures?: number | undefined;
  /** For how long; then one request may try it. Default 30 s. */
  readonly openMs?: number | undefined;
  readonly clock?: ProviderClock | undefined;
}

interface Circuit {
  failures: number;
  openUntil: number;
  /** One request is trying whether the model is back. */
  trying: boolean;
}

/**
 * A provider whose models are left alone for a while once they failed several times in a row: requests then fail at once with a
 * `server-error` of code `circuit-open` that says when to come back. The first after that time tries; what it meets decides.
 * Counted are failures of the vendor (`server-error`, `rate-limit`, `invalid-response`), not those of a request.
 */
export function withCircuitBreaker(provider: Provider, options: CircuitBreakerOptions = {}): Provider {
  checkOptionNames("withCircuitBreaker", options, { failures: true, openMs: true, clock: true });
  const { failures: allowed = 5, openMs = 30_000, clock = platformClock } = options;
  const circuits = new Map<string, Circuit>();

  function circuitOf(model: string): Circuit {
    let circuit = circuits.get(model);
    if (circuit === undefined) {
      circuit = { failures: 0, openUntil: 0, trying: false };
      circuits.set(model, circuit);
    }
    return circuit;
  }

  function admit(circuit: Circuit, model: string): void {
    const wait = circuit.openUntil - clock.now();
    if (circuit.failures < allowed || (wait <= 0 && !circuit.trying)) {
      circuit.trying = circuit.failures >= allowed;
      return;
    }
    throw new ModelError({
      kind: "server-error",
      code: CIRCUIT_OPEN,
      progress: "unsent",
      message: `${provider.name} failed ${circuit.failures} times in a row with ${model}, which is left alone for a while`,
      retryAfterMs: Math.max(wait, 1000),
      provider: provider.name,
      model,
    });
  }

  function settle(circuit: Circuit, outcome: "good" | "bad" | "none"): void {
    circuit.trying = false;
    if (outcome === "good") circuit.failures = 0;
    if (outcome !== "bad") return;
    circuit.failures += 1;
    if (circuit.failures >= allowed) circuit.openUntil = clock.now() + openMs;
  }

  const wrapped: Provider = {
    ...provider,
    stream(request: InferRequest, inferOptions?: InferOptions): AsyncIterable<InferEvent> {
      return new WatchedEvents(() => {
        const circuit = circuitOf(request.model);
        admit(circuit, request.model);
        return { events: provider.stream(request, inferOptions), settle: (outcome) => settle(circuit, outcome) };
      });
    },
  };
  return checkMethodOptions("provider", wrapped, PROVIDER_METHODS);
}

interface Watched {
  readonly events: AsyncIterable<InferEvent>;
  settle(outcome: "good" | "bad" | "none"): void;
}

/** The events of a call, whose end is told to the breaker once. */
class WatchedEvents implements AsyncIterableIterator<InferEvent>, PolledEvents {
  readonly #begin: () => Watched;
  #watched: Watched | undefined;
  #iterator: AsyncIterator<InferEvent> | undefined;
  #settled = false;

  constructor(begin: () => Watched) {
    this.#begin = begin;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<InferEvent, undefined>> {
    if (this.#watched === undefined) {
      this.#watched = this.#begin();
      this.#iterator = this.#watched.events[Symbol.asyncIterator]();
    }
    try {
      const result = await (this.#iterator as AsyncIterator<InferEvent>).next();
      this.#settle("good", result.done === true || result.value.type === "end");
      return result as IteratorResult<InferEvent, undefined>;
    } catch (error) {
      this.#settle(isVendors(error) ? "bad" : "none", true);
      throw error;
    }
  }

  poll(): InferEvent | undefined {
    const events = this.#watched?.events;
    const event = events !== undefined && canPoll(events) ? events.poll() : undefined;
    if (event?.type === "end") this.#settle("good", true);
    return event;
  }

  pollTexts(): readonly string[] | undefined {
    const events = this.#watched?.events;
    return events !== undefined && canPoll(events) ? events.pollTexts() : undefined;
  }

  async return(): Promise<IteratorResult<InferEvent, undefined>> {
    this.#settle("none", true);
    await this.#iterator?.return?.();
    return { done: true, value: undefined };
  }

  #settle(outcome: "good" | "bad" | "none", over: boolean): void {
    if (!over || this.#settled) return;
    this.#settled = true;
    this.#watched?.settle(outcome);
  }
}

function isVendors(error: unknown): boolean {
  return ModelError.is(error, "server-error") || ModelError.is(error, "rate-limit") || ModelError.is(error, "invalid-response");
}
