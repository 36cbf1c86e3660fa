import type { Journal } from "../../session/journal.ts";
import type { RunState } from "../../session/session-state.ts";

/**
 * How long a run may go on, in milliseconds; nothing where it has no end in time.
 * @param deadline Unix ms
 */
export function timeLeft(
  journal: Journal,
  now: number,
  deadline: number | undefined,
  maxDurationMs: number | undefined,
): number | undefined {
  const { run } = journal.state;
  // The log gives a run its time with the first append, which is still to come where it begins here.
  const startedAt = run === undefined || run.startSeq > journal.committedSeq ? now : run.startedAt;
  const at = Math.min(
    deadline ?? Number.POSITIVE_INFINITY,
    maxDurationMs === undefined ? Number.POSITIVE_INFINITY : startedAt + maxDurationMs,
  );
  // Never longer than the whole, where the clock was set back since the run began.
  return Number.isFinite(at) ? Math.min(Math.max(0, at - now), maxDurationMs ?? Number.POSITIVE_INFINITY) : undefined;
}

/** When the time of a run is over, by what it was started with and by the log's clock: Unix ms; nothing where it has no end in time. */
export function endOfTime({ startedAt, terms }: RunState): number | undefined {
  const { deadline = Number.POSITIVE_INFINITY, limits } = terms ?? {};
  const at = Math.min(deadline, startedAt + (limits?.maxDurationMs ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(at) ? at : undefined;
}

export function isTimeOver(run: RunState, now: number): boolean {
  const at = endOfTime(run);
  return at !== undefined && at <= now;
}
