import type { Operator } from "@keelson/protocol";
import { runnerInternals } from "../agent/runner/runner-internals.ts";
import type { Runner, SingleRunner } from "../agent/runner/runner.ts";
import type { Agents } from "../agent/definition/agent.ts";
import { agentOperator } from "./agent-operator.ts";

/**
 * All agents of a runner as operators by name, for an orchestrator: those it was made with, and those that they have as tools.
 *
 * ```ts
 * const orchestrator = createLocalOrchestrator({ operators: agentOperators(runner) });
 * ```
 */
export function agentOperators(runner: SingleRunner<unknown> | SingleRunner | Runner<Agents>): {
  readonly [name: string]: Operator;
} {
  return Object.fromEntries(
    runnerInternals(runner)
      .names()
      .map((name) => [name, agentOperator(runner, name)]),
  );
}
