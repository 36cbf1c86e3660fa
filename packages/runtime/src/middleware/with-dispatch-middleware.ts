import { toOrchestratorError, type DispatchResult, type OperatorOutput, type Orchestrator, type RunId } from "@keelson/protocol";
import type { DispatchStack } from "./dispatch-middleware.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { checkMethodOptions } from "../json/check-method-options.ts";
import { ORCHESTRATOR_METHODS } from "../json/interface-methods.ts";
import { BOUND_OPTION } from "../json/option-rules.ts";

export interface WithDispatchMiddlewareOptions {
  /** Makes ids for starts without one. Default: random. */
  readonly newId?: (() => string) | undefined;
  /** Outputs of finished starts that are kept for `attach`. Default 1,000. */
  readonly maxFinished?: number | undefined;
}

/**
 * The same orchestrator with middleware around every dispatch, however it begins: `dispatch`, `dispatchMany`, and `start` with
 * `attach`, which gives the output as the middleware left it. A start that a guard refuses rejects. What was not started here is
 * attached to as it is; signals, queries and cancellation pass through.
 */
export function withDispatchMiddleware(
  orchestrator: Orchestrator,
  stack: DispatchStack,
  options: WithDispatchMiddlewareOptions = {},
): Orchestrator {
  checkOptionNames("withDispatchMiddleware", options, { newId: true, maxFinished: BOUND_OPTION });
  const { newId = () => globalThis.crypto.randomUUID(), maxFinished = 1000 } = options;
  const working = new Map<string, Promise<OperatorOutput>>();
  const finished = new Map<string, Promise<OperatorOutput>>();

  const wrapped: Orchestrator = {
    async start(operator, input, options = {}) {
      const id = options.id ?? (`r_${newId()}` as RunId);
      if (working.has(id) || finished.has(id)) return id;
      let accept = (): void => {};
      const accepted = new Promise<void>((resolve) => (accept = resolve));
      const output = stack.run({ operator, input, options: { ...options, id } }, async (request) => {
        const started = await orchestrator.start(request.operator, request.input, request.options);
        accept();
        return orchestrator.attach(started);
      });
      working.set(id, output);
      let isAccepted = false;
      const settle = (): void => {
        working.delete(id);
        if (isAccepted) keep(id, output);
      };
      output.then(settle, settle);
      // A guard that returns an output in the operator's place accepts it, too.
      await Promise.race([accepted, output]);
      isAccepted = true;
      if (!working.has(id)) keep(id, output);
      return id;
    },

    attach: (id) => working.get(id) ?? finished.get(id) ?? orchestrator.attach(id),

    async dispatch(operator, input, options = {}) {
      // Under an id it is a start, so that twice is once.
      if (options.id !== undefined) return wrapped.attach(await wrapped.start(operator, input, options));
      return stack.run({ operator, input, options }, (request) => orchestrator.dispatch(request.operator, request.input, request.options));
    },

    dispatchMany: (tasks) =>
      Promise.all(
        tasks.map(async ({ operator, input, options }): Promise<DispatchResult> => {
          try {
            return { ok: true, output: await wrapped.dispatch(operator, input, options) };
          } catch (error) {
            return { ok: false, error: toOrchestratorError(error).toJSON() };
          }
        }),
      ),

    cancel: (id, how) => orchestrator.cancel(id, how),
    signal: (target, signal) => orchestrator.signal(target, signal),
    query: (target, query) => orchestrator.query(target, query),
    ...(orchestrator.wake && { wake: (session) => (orchestrator.wake as NonNullable<Orchestrator["wake"]>)(session) }),
  };
  return checkMethodOptions("orchestrator", wrapped, ORCHESTRATOR_METHODS);

  function keep(id: string, output: Promise<OperatorOutput>): void {
    finished.set(id, output);
    for (const oldest of finished.keys()) {
      if (finished.size <= maxFinished) return;
      finished.delete(oldest);
    }
  }
}
