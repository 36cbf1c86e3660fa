import type { DispatchOptions, Operator, OperatorInput, Orchestrator, Query, Signal } from "@keelson/protocol";
import { createLocalOrchestrator } from "../../orchestration/local-orchestrator.ts";
import { mockOperator, type MockOutput } from "./mock-operator.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { ORCHESTRATOR_METHODS } from "../../json/interface-methods.ts";

export interface MockOrchestrator extends Orchestrator {
  /** Every dispatch that was begun, in order. */
  readonly dispatches: readonly { readonly operator: string; readonly input: OperatorInput; readonly options: DispatchOptions }[];
  readonly signals: readonly { readonly target: string; readonly signal: Signal }[];
  readonly queries: readonly { readonly target: string; readonly query: Query }[];
  readonly cancellations: readonly { readonly target: string; readonly how: "stop" | "abort" }[];
}

/** An orchestrator in memory that remembers what it was asked. Operators are given as they are, or as scripts of outputs. */
export function mockOrchestrator(operators: { readonly [id: string]: Operator | readonly MockOutput[] }): MockOrchestrator {
  const local = createLocalOrchestrator({
    operators: Object.fromEntries(
      Object.entries(operators).map(([id, operator]) => [id, "execute" in operator ? operator : mockOperator(operator)]),
    ),
  });
  const dispatches: MockOrchestrator["dispatches"][number][] = [];
  const signals: MockOrchestrator["signals"][number][] = [];
  const queries: MockOrchestrator["queries"][number][] = [];
  const cancellations: MockOrchestrator["cancellations"][number][] = [];
  const begun = (operator: string, input: OperatorInput, options: DispatchOptions = {}): void =>
    void dispatches.push({ operator, input, options });
  const orchestrator: MockOrchestrator = {
    dispatches,
    signals,
    queries,
    cancellations,
    start(operator, input, options) {
      begun(operator, input, options);
      return local.start(operator, input, options);
    },
    attach: (id) => local.attach(id),
    cancel(target, how) {
      cancellations.push({ target, how });
      return local.cancel(target, how);
    },
    dispatch(operator, input, options) {
      begun(operator, input, options);
      return local.dispatch(operator, input, options);
    },
    dispatchMany(tasks) {
      for (const { operator, input, options } of tasks) begun(operator, input, options);
      return local.dispatchMany(tasks);
    },
    signal(target, signal) {
      signals.push({ target, signal });
      return local.signal(target, signal);
    },
    query(target, query) {
      queries.push({ target, query });
      return local.query(target, query);
    },
  };
  return checkMethodOptions("orchestrator", orchestrator, ORCHESTRATOR_METHODS);
}
