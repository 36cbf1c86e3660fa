import {
  AgentError,
  KeelsonError,
  LogError,
  ModelError,
  OperatorError,
  toAgentError,
  type AgentFailure,
  type EndReason,
  type ReachedLimit,
} from "@keelson/protocol";
import { stepFailureOf } from "../../session/step-failure.ts";
import { Suspension } from "../../session/suspension.ts";
import { runOf, type Loop } from "./loop.ts";

/** What is told of an ending beside its reason. */
export interface EndingDetails {
  readonly failure?: AgentFailure;
  readonly halted?: { readonly by: string; readonly reason: string };
  readonly limit?: ReachedLimit;
  readonly why?: string;
}

/** Unwinds to the driver of a run with the way it ends. Expected endings are values; `error` carries its failure. */
export class RunEnding extends Error {
  override readonly name = "RunEnding";
  readonly reason: EndReason;
  readonly details: EndingDetails;

  constructor(reason: EndReason, { failure, halted, limit, why }: EndingDetails = {}) {
    super(`the run ends (${reason})`);
    this.reason = reason;
    this.details = {
      ...(failure && { failure }),
      ...(halted && { halted }),
      ...(limit && { limit }),
      ...(why !== undefined && { why }),
    };
  }
}

/** Ends the run where it was told to: abort, deadline, or a graceful stop. */
export function checkEnding(loop: Loop): void {
  if (loop.attempts.runAborted) throw abortedEnding(loop);
  const { stopping } = runOf(loop);
  if (stopping === "abort") throw new RunEnding("aborted", statedReasonOf(loop));
  if (stopping === "stop" || loop.attempts.stopped) throw stoppedEnding(loop);
}

export function stoppedEnding(loop: Loop): RunEnding {
  return new RunEnding("stopped", statedReasonOf(loop));
}

function abortedEnding(loop: Loop): RunEnding {
  const { reason } = loop.execution.signal;
  if (reason === "timeout") return timeoutEnding(loop, loop.execution.clock.now());
  return reason === "stop-grace" ? stoppedEnding(loop) : new RunEnding("aborted", statedReasonOf(loop));
}

/** The words of whoever ended the run, from this process or by its inbox. */
function statedReasonOf(loop: Loop): EndingDetails {
  const why = loop.statedReason?.() ?? runOf(loop).stoppedFor;
  return why === undefined ? {} : { why };
}

/** The time of the run is over: its own, or that of whoever set the deadline. */
export function timeoutEnding(loop: Loop, now: number): RunEnding {
  const { maxDurationMs } = loop.limits;
  const { deadline } = loop.execution;
  const { startedAt } = runOf(loop);
  if (maxDurationMs !== undefined && (deadline === undefined || startedAt + maxDurationMs <= deadline))
    return new RunEnding("timeout", { limit: { name: "maxDurationMs", limit: maxDurationMs, used: Math.max(0, now - startedAt) } });
  return new RunEnding("timeout", deadline === undefined ? {} : { limit: { name: "deadline", limit: deadline, used: now } });
}

/** How the run ends for what was thrown. Failures of the log are not the run's: they are thrown on. */
export function endingOf(error: unknown, loop: Loop): RunEnding {
  if (error instanceof RunEnding) return error;
  if (error instanceof Suspension || LogError.is(error)) throw error;
  if (loop.attempts.runAborted && !AgentError.is(error, "panic")) return abortedEnding(loop);
  if (OperatorError.is(error, "halted")) {
    const { by, reason, exit, limit } = error.failure;
    return exit ? new RunEnding(exit, { ...(limit && { limit }), why: reason }) : new RunEnding("halted", { halted: { by, reason } });
  }
  if (AgentError.is(error)) return new RunEnding("error", { failure: error.failure });
  if (error instanceof KeelsonError) {
    const { failure } = toAgentError(error);
    return new RunEnding("error", {
      failure: (ModelError.is(error) ? failure : { ...failure, cause: stepFailureOf(error) }) as AgentFailure,
    });
  }
  return new RunEnding("error", {
    failure: {
      kind: "bug",
      message: `the loop failed unexpectedly: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    },
  });
}
