import {
  AgentError,
  KeelsonError,
  LogError,
  ModelError,
  OperatorError,
  toAgentError,
  type EndReason,
  type Failure,
} from "@keelson/protocol";
import { stepFailureOf } from "../../session/execution.ts";
import { Suspension } from "../../session/suspension.ts";
import { runOf, type Loop } from "./loop.ts";

/** Unwinds to the driver of a run with the way it ends. Expected endings are values; `error` carries its failure. */
export class RunEnding extends Error {
  override readonly name = "RunEnding";
  readonly reason: EndReason;
  readonly failure?: Failure;
  readonly halted?: { readonly by: string; readonly reason: string };

  constructor(
    reason: EndReason,
    details: { readonly failure?: Failure; readonly halted?: { readonly by: string; readonly reason: string } } = {},
  ) {
    super(`the run ends (${reason})`);
    this.reason = reason;
    if (details.failure) this.failure = details.failure;
    if (details.halted) this.halted = details.halted;
  }
}

/** Ends the run where it was told to: abort, deadline, or a graceful stop. */
export function checkEnding(loop: Loop): void {
  if (loop.attempts.runAborted) throw abortedEnding(loop);
  const { stopping } = runOf(loop);
  if (stopping === "abort") throw new RunEnding("aborted");
  if (stopping === "stop" || loop.attempts.stopped) throw new RunEnding("stopped");
}

function abortedEnding({ execution }: Loop): RunEnding {
  const { reason } = execution.signal;
  return new RunEnding(reason === "timeout" ? "timeout" : reason === "stop-grace" ? "stopped" : "aborted");
}

/** How the run ends for what was thrown. Failures of the log are not the run's: they are thrown on. */
export function endingOf(error: unknown, loop: Loop): RunEnding {
  if (error instanceof RunEnding) return error;
  if (error instanceof Suspension || LogError.is(error)) throw error;
  if (loop.attempts.runAborted && !AgentError.is(error, "panic")) return abortedEnding(loop);
  if (OperatorError.is(error, "halted")) {
    const { by, reason, exit } = error.failure;
    return exit ? new RunEnding(exit) : new RunEnding("halted", { halted: { by, reason } });
  }
  if (AgentError.is(error)) return new RunEnding("error", { failure: error.failure });
  if (error instanceof KeelsonError) {
    const { failure } = toAgentError(error);
    return new RunEnding("error", { failure: (ModelError.is(error) ? failure : { ...failure, cause: stepFailureOf(error) }) as Failure });
  }
  return new RunEnding("error", {
    failure: {
      kind: "bug",
      message: `the loop failed unexpectedly: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    },
  });
}
