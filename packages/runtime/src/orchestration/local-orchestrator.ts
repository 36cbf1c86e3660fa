import {
  OperatorError,
  OrchestratorError,
  toOrchestratorError,
  type Authority,
  type DispatchOptions,
  type DurableEvent,
  type JsonObject,
  type JsonValue,
  type Operator,
  type OperatorInput,
  type OperatorOutput,
  type Orchestrator,
  type RunId,
  type SessionId,
  type TransientEvent,
} from "@keelson/protocol";
import type { DispatchStack } from "../middleware/dispatch-middleware.ts";
import { withDispatchMiddleware } from "../middleware/with-dispatch-middleware.ts";
import { systemClock, type Clock } from "../platform/clock.ts";
import { authorityBelow } from "./authority-below.ts";
import { dispatchTasks } from "./dispatch-tasks.ts";
import { OperatorContext } from "./operator-context.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { checkMethodOptions } from "../json/check-method-options.ts";
import { ORCHESTRATOR_METHODS } from "../json/interface-methods.ts";
import { BOUND_OPTION } from "../json/option-rules.ts";

export interface LocalOrchestratorOptions {
  readonly operators?: { readonly [id: string]: Operator } | undefined;
  readonly clock?: Clock | undefined;
  /** Makes ids for starts without one. Default: random. */
  readonly newId?: (() => string) | undefined;
  /** Finished dispatches that are kept for `attach`. Default 1,000. */
  readonly maxFinished?: number | undefined;
  /** How long an operator that was aborted has to end before it is left behind. Default 5 s. */
  readonly abandonMs?: number | undefined;
  /** Told what a dispatch commits, such as the `budget` events of an agent: whoever hears that may notify, adjust or `cancel`. */
  readonly onEvent?:
    | ((event: DurableEvent | TransientEvent, dispatch: { readonly id: RunId; readonly operator: string }) => void)
    | undefined;
  /** Around every dispatch, those that operators make as their children included. */
  readonly middleware?: DispatchStack | undefined;
}

export interface LocalOrchestrator extends Orchestrator {
  /** The same id replaces the operator that had it. `query` answers questions about its dispatches; it must change nothing. */
  register(
    id: string,
    operator: Operator,
    options?: { readonly query?: (name: string, params: JsonObject) => JsonValue | Promise<JsonValue> },
  ): void;
}

interface Dispatch {
  readonly operator: string;
  readonly authority: Authority;
  readonly deadline: number | undefined;
  readonly output: Promise<OperatorOutput>;
  /** While it works: then its output alone is kept. */
  working: { readonly context: OperatorContext; readonly controller: AbortController } | undefined;
  status: "working" | "done" | "failed";
  signals: number;
}

/** Runs operators in this process. Nothing survives it; runs with a log are a runner's, which can be registered as an operator. */
export function createLocalOrchestrator(options: LocalOrchestratorOptions = {}): LocalOrchestrator {
  checkOptionNames("createLocalOrchestrator", options, {
    operators: true,
    clock: true,
    newId: true,
    maxFinished: BOUND_OPTION,
    abandonMs: BOUND_OPTION,
    onEvent: true,
    middleware: true,
  });
  const {
    clock = systemClock,
    newId = () => globalThis.crypto.randomUUID(),
    maxFinished = 1000,
    abandonMs = 5000,
    middleware,
    onEvent,
  } = options;
  const operators = new Map(Object.entries(options.operators ?? {}));
  const queries = new Map<string, (name: string, params: JsonObject) => JsonValue | Promise<JsonValue>>();
  const dispatches = new Map<string, Dispatch>();

  const orchestrator: LocalOrchestrator = {
    register(id, operator, { query } = {}) {
      operators.set(id, operator);
      if (query) queries.set(id, query);
    },

    async start(operator, input, dispatchOptions = {}) {
      const id = dispatchOptions.id ?? (`r_${newId()}` as RunId);
      if (!dispatches.has(id)) begin(id, operator, input, dispatchOptions);
      return id;
    },

    attach: async (id) => find(id).output,

    async cancel(id, how) {
      const { working } = find(id);
      await working?.context.write(`${how}/${newId()}`, { type: how });
      if (how === "abort") working?.controller.abort("aborted");
    },

    async dispatch(operator, input, dispatchOptions) {
      return orchestrator.attach(await orchestrator.start(operator, input, dispatchOptions));
    },

    dispatchMany: (tasks) =>
      dispatchTasks(tasks, ({ operator, input, options: taskOptions }) => orchestrator.dispatch(operator, input, taskOptions)),

    async signal(target, signal) {
      const dispatch = find(target);
      const isAccepted = await dispatch.working?.context.write(`signal/${newId()}`, { type: "signal", signal });
      if (isAccepted !== true)
        throw new OrchestratorError({ kind: "signal-failed", message: `"${target}" is over; it takes no signals any more.` });
      dispatch.signals++;
    },

    async query(target, { name, params }) {
      const dispatch = find(target);
      const own = queries.get(dispatch.operator);
      if (name === "status") return { status: dispatch.status, operator: dispatch.operator, signals: dispatch.signals };
      if (own) return own(name, params);
      throw new OrchestratorError({
        kind: "other",
        message: `"${dispatch.operator}" answers no query "${name}"; every dispatch answers "status".`,
      });
    },
  };
  const guarded: LocalOrchestrator =
    middleware === undefined
      ? orchestrator
      : { ...withDispatchMiddleware(orchestrator, middleware, { newId, maxFinished }), register: orchestrator.register };
  return checkMethodOptions("orchestrator", guarded, { ...ORCHESTRATOR_METHODS, register: [2, { query: true }, "throws"] });

  function begin(id: RunId, operatorId: string, input: OperatorInput, options: DispatchOptions): void {
    const { parent, authority: given, signal } = options;
    const operator = operators.get(operatorId);
    if (operator === undefined)
      throw new OrchestratorError({
        kind: "operator-not-found",
        operator: operatorId,
        available: [...operators.keys()],
        message: `There is no operator "${operatorId}"; there are ${[...operators.keys()].join(", ") || "none"}.`,
      });
    const above = parent === undefined ? undefined : dispatches.get(parent);
    const authority = authorityBelow(above?.authority, given, operatorId);
    const deadline = earliest([options.deadline, authority.deadline, above?.deadline]);
    const controller = new AbortController();
    const forward = (): void => controller.abort(signal?.reason);
    signal?.addEventListener("abort", forward, { once: true });
    if (signal?.aborted) forward();
    const cancelDeadline =
      deadline === undefined ? () => {} : clock.after(Math.max(0, deadline - clock.now()), () => controller.abort("timeout"));
    const context = new OperatorContext({
      clock,
      operator: operatorId,
      runId: id,
      session: (input.session ?? id) as SessionId,
      signal: controller.signal,
      authority,
      ...(parent && { parent: { run: parent } }),
      ...(deadline !== undefined && { deadline }),
      ...(onEvent && { onEvent: (event) => onEvent(event, { id, operator: operatorId }) }),
      startChild: (spec) =>
        guarded.dispatch(spec.operator, spec.input, {
          id: `${id}/${spec.key}` as RunId,
          parent: id,
          ...(spec.authority && { authority: spec.authority }),
          signal: controller.signal,
        }),
    });
    const abandonment = abandonedAfter(controller.signal, abandonMs, clock);
    const work = async (): Promise<OperatorOutput> => {
      // Begins when the dispatch is known: its children find it.
      await Promise.resolve();
      try {
        const result = await Promise.race([context.execute(operator, input), abandonment.reached.then(() => leftBehind(context))]);
        dispatch.status = "done";
        return result;
      } catch (error) {
        dispatch.status = "failed";
        if (!controller.signal.aborted) throw toOrchestratorError(error);
        throw OrchestratorError.is(error, "cancelled") ? error : cancelled(operatorId, controller.signal, error);
      } finally {
        dispatch.working = undefined;
        cancelDeadline();
        abandonment.forget();
        signal?.removeEventListener("abort", forward);
        forget();
      }
    };
    const output = work();
    // A failure belongs to whoever attaches; nobody has to.
    output.catch(() => {});
    const dispatch: Dispatch = {
      operator: operatorId,
      authority,
      deadline,
      output,
      working: { context, controller },
      status: "working",
      signals: 0,
    };
    dispatches.set(id, dispatch);
  }

  function find(id: string): Dispatch {
    const dispatch = dispatches.get(id);
    if (dispatch === undefined)
      throw new OrchestratorError({ kind: "workflow-not-found", workflow: id, message: `Nothing was started here under the id "${id}".` });
    return dispatch;
  }

  function forget(): void {
    let over = dispatches.size - maxFinished;
    for (const [id, dispatch] of dispatches) {
      if (over <= 0) return;
      if (dispatch.status === "working") continue;
      dispatches.delete(id);
      over--;
    }
  }
}

async function leftBehind(context: OperatorContext): Promise<never> {
  await context.end();
  throw new OperatorError({ kind: "non-retryable", message: "It did not end when it was cancelled, and was left behind." });
}

function cancelled(operator: string, { reason }: AbortSignal, cause: unknown): OrchestratorError {
  return new OrchestratorError({ kind: "cancelled", message: `"${operator}" was cancelled (${String(reason)}).` }, { cause });
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** An operator that ignores its signal is left behind after a while, so that nobody waits for it for ever. */
function abandonedAfter(signal: AbortSignal, ms: number, clock: Clock): { readonly reached: Promise<void>; forget(): void } {
  let cancel = (): void => {};
  let arm = (): void => {};
  const reached = new Promise<void>((resolve) => {
    arm = () => (cancel = clock.after(ms, resolve));
  });
  signal.addEventListener("abort", arm, { once: true });
  if (signal.aborted) arm();
  return {
    reached,
    forget() {
      signal.removeEventListener("abort", arm);
      cancel();
    },
  };
}
