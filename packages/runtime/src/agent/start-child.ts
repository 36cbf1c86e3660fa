import { AgentError, isSuspendReason, OrchestratorError, type ChildSpec, type OperatorOutput, type RunId, type SessionId, type Wait } from "@keelson/protocol";
import { shortHash } from "../json/digest.ts";
import type { Execution } from "../session/execution.ts";
import { foldSession } from "../session/journal.ts";
import { CHILD_MARK } from "../session/sessions.ts";
import { Suspension } from "../session/suspension.ts";
import type { ActiveRun } from "./active-run.ts";
import { narrowAuthority } from "./permissions/narrow-authority.ts";
import { operatorOutputOf } from "./operator-output.ts";
import type { RunOutcome } from "./run.ts";
import type { RunnerInternals } from "./runner.ts";

/**
 * Runs an agent as a child: its own session, log and lease, the parent's authority narrowed. Started twice under one key it
 * is the same child: over, its outcome is read; interrupted, it goes on. A child that waits makes its parent wait.
 */
export async function startChildRun(runner: RunnerInternals, spec: ChildSpec, parent: ActiveRun<unknown> | ActiveRun<never>, execution: Execution): Promise<OperatorOutput> {
  const agent = runner.find(spec.operator);
  if (agent === undefined) throw new OrchestratorError({ kind: "operator-not-found", operator: spec.operator, available: [], message: `There is no agent "${spec.operator}" to start as a child.` });
  const { world } = runner;
  if (execution.authority.depth < 1) throw new AgentError({ kind: "other", message: `"${spec.operator}" was not started: the limit of nested agents is reached.` });
  const session = `${parent.session}${CHILD_MARK}${shortHash(`${execution.runId}/${spec.key}`, 12)}` as SessionId;
  const id = `r_${shortHash(`${session}/${spec.operator}`)}` as RunId;
  execution.put(`${spec.key}/child-start`, { type: "child-start", child: id, session, agent: agent.name, ...(spec.call && { callId: spec.call }) });
  await execution.flush();

  const state = await foldSession(world.log, world.blobs, session);
  const child =
    state.run === undefined
      ? runner.start(agent, spec.input.message, { session, ...(execution.deadline !== undefined && { deadline: execution.deadline }) }, { id, parent: { run: execution.runId }, authority: narrowAuthority(spec.authority ?? execution.authority, { depth: execution.authority.depth - 1 }) })
      : await runner.resume(session);
  const stopForwarding = forwardEvents(child, parent, spec.operator);
  const abort = (): void => void child.abort().catch(() => {});
  const stop = (): void => void child.stop().catch(() => {});
  execution.signal.addEventListener("abort", abort, { once: true });
  execution.stopping.addEventListener("abort", stop, { once: true });
  if (execution.signal.aborted) abort();
  let outcome: RunOutcome<unknown>;
  try {
    outcome = await child.outcome;
  } finally {
    execution.signal.removeEventListener("abort", abort);
    execution.stopping.removeEventListener("abort", stop);
    await stopForwarding();
  }
  if (isSuspendReason(outcome.reason)) {
    throw new Suspension(outcome.reason, (outcome.waits ?? []).map((wait): Wait => ({ ...wait, path: [spec.operator, ...(wait.path ?? [])] })));
  }
  execution.put(`${spec.key}/child-end`, {
    type: "child-end",
    child: id,
    reason: outcome.reason,
    usage: outcome.usage,
    cost: outcome.cost,
    ...(outcome.error && { failure: outcome.error.failure }),
  });
  if (outcome.error) return { ...operatorOutputOf({ ...withoutError(outcome), text: outcome.error.message }), exitReason: { type: "error" } };
  return operatorOutputOf(outcome);
}

function withoutError({ error: _, ...outcome }: RunOutcome<unknown>): RunOutcome<unknown> {
  return outcome;
}

/** Shows a child's events to the parent's watchers, with the way that leads to it. */
function forwardEvents(child: ActiveRun<unknown>, parent: ActiveRun<unknown> | ActiveRun<never>, name: string): () => Promise<void> {
  const subscription = child.hub.subscribe();
  const forwarding = (async () => {
    for await (const event of subscription) {
      if (event.type === "detached") continue;
      parent.hub.forward({ ...event, path: [name, ...(("path" in event ? event.path : undefined) ?? [])] } as typeof event);
    }
  })();
  return () => forwarding;
}
