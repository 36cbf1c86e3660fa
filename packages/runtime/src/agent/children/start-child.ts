import {
  AgentError,
  isSuspendReason,
  LogError,
  OrchestratorError,
  type ChildSpec,
  type OperatorOutput,
  type RunId,
  type SessionId,
  type Wait,
} from "@keelson/protocol";
import { shortHash } from "../../json/digest.ts";
import type { Execution } from "../../session/execution.ts";
import { foldSession } from "../../session/journal.ts";
import { CHILD_MARK } from "../../session/sessions.ts";
import { Suspension } from "../../session/suspension.ts";
import type { ActiveRun } from "../active-run.ts";
import { narrowAuthority } from "../permissions/narrow-authority.ts";
import { operatorOutputOf } from "../operator-output.ts";
import type { RunOutcome } from "../run.ts";
import type { RunnerInternals } from "../runner.ts";

/**
 * Runs an agent as a child: its own session, log and lease, the parent's authority narrowed. Started twice under one key it
 * is the same child: over, its outcome is read; interrupted, it goes on. A child that waits makes its parent wait.
 */
export async function startChildRun(
  runner: RunnerInternals,
  spec: ChildSpec,
  parent: ActiveRun<unknown> | ActiveRun<never>,
  execution: Execution,
): Promise<OperatorOutput> {
  const agent = runner.find(spec.operator);
  if (agent === undefined)
    throw new OrchestratorError({
      kind: "operator-not-found",
      operator: spec.operator,
      available: [],
      message: `There is no agent "${spec.operator}" to start as a child.`,
    });
  const { world } = runner;
  if (execution.authority.depth < 1)
    throw new AgentError({ kind: "other", message: `"${spec.operator}" was not started: the limit of nested agents is reached.` });
  const session = `${parent.session}${CHILD_MARK}${shortHash(`${execution.runId}/${spec.key}`, 12)}` as SessionId;
  const id = `r_${shortHash(`${session}/${spec.operator}`)}` as RunId;
  execution.put(`${spec.key}/child-start`, {
    type: "child-start",
    child: id,
    session,
    agent: agent.name,
    ...(spec.call && { callId: spec.call }),
  });
  await execution.flush();

  const { config = {}, message, metadata } = spec.input;
  const { maxTurns, maxCost, maxDurationMs, model, allowedOperators, systemAddendum } = config;
  const options = {
    session,
    metadata,
    ...(model !== undefined && { model }),
    ...(execution.deadline !== undefined && { deadline: execution.deadline }),
    limits: {
      ...(maxTurns !== undefined && { maxTurns }),
      ...(maxCost !== undefined && { maxCost }),
      ...(maxDurationMs !== undefined && { maxDurationMs }),
    },
  };
  const origin = {
    id,
    parent: { run: execution.runId },
    authority: narrowAuthority(narrowAuthority(execution.authority, spec.authority ?? {}), { depth: execution.authority.depth - 1 }),
    ...(allowedOperators && { allowedTools: allowedOperators }),
    ...(systemAddendum !== undefined && { systemAddendum }),
  };
  const begin = async (): Promise<ActiveRun<unknown>> =>
    (await foldSession(world.log, world.blobs, session)).run === undefined
      ? runner.start(agent, message, options, origin)
      : runner.resume(session);
  const { outcome, failure } = await workChild(begin, parent, execution, spec.operator);
  if (failure) {
    // The child goes on elsewhere, or later; so must its parent, which would otherwise take this for the child's end.
    const error = LogError.is(failure.cause)
      ? failure.cause
      : new LogError({ kind: "other", message: failure.message }, { cause: failure });
    execution.journal.abandon(error);
    throw error;
  }
  if (isSuspendReason(outcome.reason)) {
    throw new Suspension(
      outcome.reason,
      (outcome.waits ?? []).map((wait): Wait => ({ ...wait, path: [spec.operator, ...(wait.path ?? [])] })),
    );
  }
  execution.put(`${spec.key}/child-end`, {
    type: "child-end",
    child: id,
    reason: outcome.reason,
    usage: outcome.usage,
    cost: outcome.cost,
    ...(outcome.error && { failure: outcome.error.failure }),
  });
  if (outcome.error)
    return { ...operatorOutputOf({ ...withoutError(outcome), text: outcome.error.message }), exitReason: { type: "error" } };
  return operatorOutputOf(outcome);
}

/** Works a child to its end or its wait. One whose lease an earlier life of this run still holds is waited for. */
async function workChild(
  begin: () => Promise<ActiveRun<unknown>>,
  parent: ActiveRun<unknown> | ActiveRun<never>,
  execution: Execution,
  name: string,
): Promise<{ readonly outcome: RunOutcome<unknown>; readonly failure: AgentError | undefined }> {
  for (;;) {
    let held: AgentError;
    try {
      const child = await begin();
      const outcome = await watchChild(child, parent, execution, name);
      if (!isHeld(child.failure)) return { outcome, failure: child.failure };
      held = child.failure;
    } catch (error) {
      if (!isHeld(error)) throw error;
      held = error;
    }
    if (execution.signal.aborted || execution.stopping.aborted) throw held;
    await execution.wait(
      Math.min(MAX_LEASE_WAIT_MS, Math.max(MIN_LEASE_WAIT_MS, (held.cause as LeaseHeld).failure.expiresAt - execution.clock.now())),
    );
  }
}

type LeaseHeld = LogError & { readonly failure: { readonly expiresAt: number } };
const MIN_LEASE_WAIT_MS = 50;
const MAX_LEASE_WAIT_MS = 30_000;

function isHeld(error: unknown): error is AgentError {
  return AgentError.is(error, "session") && LogError.is(error.cause, "lease-held");
}

async function watchChild(
  child: ActiveRun<unknown>,
  parent: ActiveRun<unknown> | ActiveRun<never>,
  execution: Execution,
  name: string,
): Promise<RunOutcome<unknown>> {
  child.forwardTo(parent, name);
  const abort = (): void => {
    const { failure } = execution.journal;
    // A parent that lost its log has no say any more: whoever has it now may be working on the same child.
    if (failure) child.detach(failure);
    else void child.abort().catch(() => {});
  };
  const stop = (): void => void child.stop().catch(() => {});
  execution.signal.addEventListener("abort", abort, { once: true });
  execution.stopping.addEventListener("abort", stop, { once: true });
  const { stopping } = execution.journal.state.run ?? {};
  if (execution.signal.aborted || stopping === "abort") abort();
  else if (execution.stopping.aborted || stopping === "stop") stop();
  try {
    return await child.outcome;
  } finally {
    execution.signal.removeEventListener("abort", abort);
    execution.stopping.removeEventListener("abort", stop);
  }
}

function withoutError({ error: _, ...outcome }: RunOutcome<unknown>): RunOutcome<unknown> {
  return outcome;
}
