import type { ExecuteResponse } from "@keelson/protocol";
import { type CommandTimes, MAX_SECONDS } from "./command-times.ts";

/** The end of a command, for the model. */
export interface CommandEnding {
  readonly words: string;
  readonly isError: boolean;
  /** Processes that could not be ended. */
  readonly left?: readonly number[] | undefined;
}

const NO_INPUT =
  "If it waits for input, there is none: pass that by options or a file. A server, a watcher or tail -f belongs into run_in_background";

/** Returns how a command ended by itself or by its time. */
export function endingOf({ exitCode, signal, timedOut, durationMs, left }: ExecuteResponse, { total }: CommandTimes): CommandEnding {
  const longer = total < MAX_SECONDS ? `set timeout_seconds (at most ${MAX_SECONDS}) or take smaller steps` : "take smaller steps";
  const words = timedOut
    ? `timed out after ${total} s and was killed with everything it started; ${longer}. ${NO_INPUT}`
    : `${exitCode === null ? `killed by ${signal}` : `exit code ${exitCode}`}, ${roundDuration(durationMs)}`;
  return { words, isError: exitCode !== 0 || timedOut, left };
}

/** Returns the end of a command that printed nothing for too long. */
export function silentEnding({ silence }: CommandTimes): CommandEnding {
  const words = `printed nothing for ${silence} s and was ended with everything it started. ${NO_INPUT}. If it is only slow, set silence_seconds (at most ${MAX_SECONDS})`;
  return { words, isError: true };
}

/** Returns the end of a command that its call ended. @param reason of the signal of the call */
export function cancelledEnding(reason: unknown): CommandEnding {
  const why = reason === "interrupted" ? "interrupted by the person" : "cancelled with the run";
  return { words: `${why}, and ended with everything it started`, isError: true };
}

/** Coarse on purpose: the same quick command gives the same result twice, by which repetition is recognised. */
function roundDuration(durationMs: number): string {
  return durationMs < 1000 ? "under 1 s" : `${Math.round(durationMs / 1000)} s`;
}
