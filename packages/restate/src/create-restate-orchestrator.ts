import {
  AgentError,
  DECISION_TYPES,
  operatorOutputCodec,
  toOrchestratorError,
  type Decision,
  type JsonValue,
  type Message,
  type Orchestrator,
  type RunId,
  type SessionId,
} from "@keelson/protocol";
import { dispatchTasks } from "keelson/orchestration";
import { systemClock, type Clock } from "keelson/session";
import { checkOptionNames, checkMethodOptions, ORCHESTRATOR_METHODS } from "keelson/state/kit";
import { createIngress } from "./ingress.ts";
import type { Attached } from "./orchestrator-service.ts";
import { DEFAULT_NAME, serviceNames } from "./service-options.ts";

export interface RestateOrchestratorOptions {
  /** Where Restate takes requests, as in "http://localhost:8080". */
  readonly ingress: string;
  /** Sent with each request, such as an `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The name that the workers serve under. Default "keelson". */
  readonly name?: string | undefined;
  /** Default: the `fetch` of this process. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** How long a request is sent again while Restate can't be reached or its workers do not answer. Default 60 s. */
  readonly retryForMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

/** The orchestrator of runs that Restate works. */
export interface RestateOrchestrator extends Orchestrator {
  wake(session: SessionId): Promise<void>;
  /**
   * Decides a question of a run, which goes on then.
   * Rejects with AgentError `invalid-token`, as `runner.approve` does, for a token that is malformed, forged, expired or used.
   */
  approve(token: string, decision: Decision): Promise<{ readonly session: SessionId; readonly runId: RunId }>;
  /** Tells a run something on its way. Rejects with `signal-failed` where it is over. */
  steer(target: RunId | string, message: string | Message, options?: { readonly interrupt?: boolean | undefined }): Promise<void>;
}

/** Below the 60 s after which what stands between (proxies, load balancers) commonly ends a silent request. */
const ATTACH_MS = 20_000;

/**
 * Starts, awaits and talks to runs, with nothing but the address of Restate. It is also what the runners of the workers are given, so that
 * child agents become sessions of their own, and whatever is written to a session has it advanced.
 *
 * ```ts
 * const orchestrator = createRestateOrchestrator({ ingress: "http://localhost:8080" });
 * const id = await orchestrator.start("treasurer", operatorInput("Pay Ada.", "user"));
 * const output = await orchestrator.attach(id);
 * ```
 *
 * A request that fails on its way is sent again for `retryForMs`, under one idempotency key. After that it rejects with OrchestratorError
 * `operator-error`, whose `operator.kind` is `retryable`.
 */
export function createRestateOrchestrator(options: RestateOrchestratorOptions): RestateOrchestrator {
  checkOptionNames("createRestateOrchestrator", options, {
    ingress: true,
    headers: true,
    name: true,
    fetch: true,
    retryForMs: true,
    clock: true,
  });
  const { ingress: url, headers = {}, name = DEFAULT_NAME, fetch = globalThis.fetch, retryForMs = 60_000, clock = systemClock } = options;
  const { service, sessions } = serviceNames(name);
  const ingress = createIngress({ url, headers, fetch, clock, retryForMs });
  const ask = <T extends JsonValue>(handler: string, request: object) => atBoundary(ingress.ask<T>(handler, service, request));
  const tell = <T extends JsonValue>(handler: string, request: object) => atBoundary(ingress.tell<T>(handler, service, request));

  const orchestrator: RestateOrchestrator = {
    async start(operator, input, { id = `r_${globalThis.crypto.randomUUID()}` as RunId, signal, ...terms } = {}) {
      await tell("start", { ...terms, id, operator, input });
      if (signal?.aborted) await orchestrator.cancel(id, "abort");
      return id;
    },

    async attach(id) {
      for (;;) {
        const attached = await ask<Attached>("attach", { id, waitMs: ATTACH_MS });
        if ("output" in attached) return operatorOutputCodec.decode(attached.output);
        await new Promise<void>((resolve) => void clock.after(attached.askAgainInMs, resolve));
      }
    },

    async cancel(id, how) {
      await tell("cancel", { id, how });
    },

    async dispatch(operator, input, dispatchOptions = {}) {
      const { signal } = dispatchOptions;
      const id = await orchestrator.start(operator, input, dispatchOptions);
      let cancelled: Promise<void> | undefined;
      const cancel = (): void => {
        cancelled = orchestrator.cancel(id, "abort");
        // Told below, once the run is over.
        cancelled.catch(() => {});
      };
      signal?.addEventListener("abort", cancel, { once: true });
      try {
        const output = await orchestrator.attach(id);
        await cancelled;
        return output;
      } finally {
        signal?.removeEventListener("abort", cancel);
      }
    },

    dispatchMany: (tasks) => dispatchTasks(tasks, (task) => orchestrator.dispatch(task.operator, task.input, task.options)),

    async signal(target, signal) {
      await tell("signal", { target, signal });
    },

    async steer(target, message, { interrupt = false } = {}) {
      const said = typeof message === "string" ? { role: "user", content: [{ type: "text", text: message }] } : message;
      await tell("steer", { target, message: said, interrupt });
    },

    query: (target, query) => ask("query", { target, query }),

    async approve(token, decision) {
      checkDecision(decision);
      return ingress.tell("approve", service, { token, decision });
    },

    wake: (session) => atBoundary(ingress.send("advance", sessions, session)),
  };
  return checkMethodOptions("orchestrator", orchestrator, { ...ORCHESTRATOR_METHODS, steer: [2, { interrupt: true }] });
}

async function atBoundary<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    throw toOrchestratorError(error);
  }
}

/** @throws AgentError of kind `invalid-option`: what is no decision must not travel as a missing member */
function checkDecision(decision: Decision): void {
  const { type } = (decision ?? {}) as Partial<Decision>;
  if (DECISION_TYPES.includes(type as Decision["type"])) return;
  const message = `\`decision\` must be one of ${DECISION_TYPES.join(", ")}, as in { type: "allow" }, not ${JSON.stringify(decision)}.`;
  throw new AgentError({ kind: "invalid-option", option: "decision", message });
}
