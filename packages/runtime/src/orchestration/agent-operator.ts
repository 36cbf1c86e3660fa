import { OperatorError, type Operator, type RunId } from "@keelson/protocol";
import { operatorOutputOf } from "../agent/operator-output.ts";
import { runnerInternals, type Runner, type SingleRunner } from "../agent/runner.ts";
import type { Agents } from "../agent/world.ts";

/** An agent of a runner as an operator: an orchestrator runs it like any other, and the runner gives it its log. */
export function agentOperator(runner: SingleRunner<unknown> | SingleRunner<undefined> | Runner<Agents>, agent: string): Operator {
  const inner = runnerInternals(runner);
  return {
    async execute(input, context) {
      const found = inner.find(agent);
      if (found === undefined) throw new OperatorError({ kind: "non-retryable", message: `The runner has no agent "${agent}".` });
      const { config } = input;
      const limits = {
        ...(config?.maxTurns !== undefined && { maxTurns: config.maxTurns }),
        ...(config?.maxCost !== undefined && { maxCost: config.maxCost }),
        ...(config?.maxDurationMs !== undefined && { maxDurationMs: config.maxDurationMs }),
      };
      const changed =
        config?.systemAddendum === undefined ? found : found.with({ systemPrompt: { type: "append", content: config.systemAddendum } });
      const narrowed = config?.allowedOperators === undefined ? changed : changed.with({ allowedTools: config.allowedOperators });
      const run = inner.start(
        narrowed,
        input.message,
        {
          limits,
          metadata: input.metadata,
          ...(config?.model !== undefined && { model: config.model }),
          ...(input.session && { session: input.session }),
          ...(context.deadline !== undefined && { deadline: context.deadline }),
        },
        {
          id: `r_${context.runId}` as RunId,
          ...(context.authority.policies.length > 0 && { authority: context.authority }),
          ...(context.parent && { parent: context.parent }),
        },
      );
      const abort = (): void => void run.abort().catch(() => {});
      context.signal.addEventListener("abort", abort, { once: true });
      try {
        return operatorOutputOf(await run.outcome);
      } finally {
        context.signal.removeEventListener("abort", abort);
      }
    },
  };
}
