import { AgentError, LogError } from "@keelson/protocol";
import type { Execution } from "../../../session/execution.ts";
import type { RunAccount } from "../../turn/operator-output.ts";
import type { RunOutcome } from "../../definition/run.ts";
import type { ChildPlan } from "./child-plan.ts";
import type { LiveRun, ParentRun } from "../../turn/live-run.ts";

export interface ChildSupervision {
  readonly plan: ChildPlan;
  readonly parent: ParentRun;
  readonly execution: Execution;
  /** What leads to it in the `path` of its events. */
  readonly name: string;
  /** Called with the child each time it is at work. */
  begun?(child: LiveRun): void;
}

/** How a child's work came out. With `lost` it is not over: it goes on elsewhere, or later. */
export interface ChildOutcome {
  readonly outcome: RunOutcome<unknown>;
  readonly lost: AgentError | undefined;
  /** What it used of the budgets above it, where there are any. */
  readonly counts: RunAccount["counts"] | undefined;
  /** Where untrusted text in its conversation came from; of an operator without a log, nobody knows. */
  readonly untrusted: readonly string[];
}

/**
 * Works a child to its end or its wait; whoever wants to know when children begin and end looks here. One whose lease an
 * earlier life of the run still holds is waited for.
 */
export async function workChild(supervision: ChildSupervision): Promise<ChildOutcome> {
  const { plan, execution } = supervision;
  for (;;) {
    let held: AgentError;
    try {
      const child = await plan.begin(supervision.parent);
      const outcome = await watchChild(child, supervision);
      const counts = execution.authority.budgets && child.account?.counts;
      if (!isHeld(child.failure)) return { outcome, lost: child.failure, counts, untrusted: child.account?.untrusted ?? [] };
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

/** What a run's log failed with, where its child was lost: the run must not take that for the child's end. */
export function logErrorOf(lost: AgentError): LogError {
  return LogError.is(lost.cause) ? lost.cause : new LogError({ kind: "other", message: lost.message }, { cause: lost });
}

type LeaseHeld = LogError & { readonly failure: { readonly expiresAt: number } };
const MIN_LEASE_WAIT_MS = 50;
const MAX_LEASE_WAIT_MS = 30_000;

function isHeld(error: unknown): error is AgentError {
  return AgentError.is(error, "session") && LogError.is(error.cause, "lease-held");
}

/** The child is told what its parent is told, and its parent's watchers see what it does. */
async function watchChild(child: LiveRun, { parent, execution, name, begun }: ChildSupervision): Promise<RunOutcome<unknown>> {
  const release = parent.adopt(child, name);
  const abort = (): void => {
    const { failure } = execution.journal;
    // A parent that lost its log has no say any more: whoever has it now may be working on the same child.
    if (failure) child.detach(failure);
    else void child.abort().catch(() => {});
  };
  const stop = (): void => {
    if (!execution.interrupting.aborted) void child.stop().catch(() => {});
  };
  const interrupt = (): void => void child.interrupt().catch(() => {});
  execution.signal.addEventListener("abort", abort, { once: true });
  execution.stopping.addEventListener("abort", stop, { once: true });
  execution.interrupting.addEventListener("abort", interrupt, { once: true });
  const { stopping } = execution.journal.state.run ?? {};
  if (execution.signal.aborted || stopping === "abort") abort();
  else if (execution.interrupting.aborted) interrupt();
  else if (execution.stopping.aborted || stopping === "stop") stop();
  begun?.(child);
  try {
    return await child.outcome;
  } finally {
    execution.signal.removeEventListener("abort", abort);
    execution.stopping.removeEventListener("abort", stop);
    execution.interrupting.removeEventListener("abort", interrupt);
    release();
  }
}
