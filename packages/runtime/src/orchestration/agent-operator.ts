import { OperatorError, type ExecutionContext, type InboxEntry, type Operator, type RunId, type SelectBranch } from "@keelson/protocol";
import { operatorOutputOf } from "../agent/turn/operator-output.ts";
import { runnerInternals } from "../agent/runner/runner-internals.ts";
import type { Runner, SingleRunner } from "../agent/runner/runner.ts";
import type { Run } from "../agent/definition/run.ts";
import type { Agents } from "../agent/definition/agent.ts";
import { dispatchedRun } from "./dispatched-run.ts";

/**
 * An agent of a runner as an operator: an orchestrator runs it like any other, and the runner gives it its log. Stop and
 * abort reach it through its dispatch, and so do signals, about which its own routes decide.
 */
export function agentOperator(runner: SingleRunner<unknown> | SingleRunner | Runner<Agents>, agent: string): Operator {
  const inner = runnerInternals(runner);
  return {
    async execute(input, context) {
      const found = inner.find(agent);
      if (found === undefined) throw new OperatorError({ kind: "non-retryable", message: `The runner has no agent "${agent}".` });
      const committing: Promise<number>[] = [];
      const { options, origin } = dispatchedRun(input, context);
      const run = inner.start(
        found,
        input.message,
        { ...options, ...(input.session && { session: input.session }) },
        {
          ...origin,
          id: runIdOf(context.runId),
          onLifecycleEvent: (event) => {
            if (event.type !== "budget") return;
            const committed = context.commit(`budget/${committing.length}`, event);
            committing.push(committed);
            // Awaited below; a dispatch that was left behind commits nothing more.
            committed.catch(() => {});
          },
        },
      );
      const abort = (): void => void run.abort();
      context.signal.addEventListener("abort", abort, { once: true });
      if (context.signal.aborted) abort();
      try {
        await relayInbox(context, run);
        const outcome = await run.outcome;
        await Promise.all(committing);
        return operatorOutputOf(outcome, run.account);
      } finally {
        context.signal.removeEventListener("abort", abort);
      }
    },
  };
}

/** A dispatch that was given the id of a run is that run. */
function runIdOf(id: RunId): RunId {
  return id.startsWith("r_") ? id : (`r_${id}` as RunId);
}

/** Passes on what the dispatch is told, until the run is over. */
async function relayInbox(context: ExecutionContext, run: Run<unknown>): Promise<void> {
  const over: SelectBranch = { type: "step", spec: { key: "run", run: async () => (await run.outcome).reason } };
  for (let round = 1; !context.signal.aborted; round++) {
    let winner: number;
    try {
      winner = await context.select(`inbox/${round}`, [{ type: "inbox" }, over]);
    } catch (error) {
      if (!context.signal.aborted) throw error;
      return;
    }
    if (winner === 1) return;
    for (const entry of await context.inbox(`inbox/${round}`)) await handle(entry, context, run);
  }
}

async function handle(entry: InboxEntry, context: ExecutionContext, run: Run<unknown>): Promise<void> {
  switch (entry.type) {
    case "stop":
      return run.stop();
    case "abort":
      return run.abort(entry.reason);
    case "steer":
      return run.steer(entry.message, { interrupt: entry.interrupt });
    case "signal":
      return run.signal(entry.signal);
    default:
      context.emit({ type: "status", level: "warn", status: `an agent that was dispatched takes no "${entry.type}"` });
  }
}
