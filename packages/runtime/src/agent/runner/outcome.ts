import { AgentError, UNKNOWN_USAGE, type Failure } from "@keelson/protocol";
import { effectsOf } from "../../session/outbox.ts";
import { lastTextOf, type SessionState } from "../../session/session-state.ts";
import { knownFailure } from "../turn/known-failure.ts";
import type { Next } from "../loop/run-turns.ts";
import type { RunOutcome } from "../definition/run.ts";

/**
 * What a run's handle resolves with: read off the folded log, like everything that anybody is told.
 * @param committedSeq where the log ends, when the state may be ahead of it: turns that it did not take are not counted
 */
export function outcomeOf<Out>(
  state: SessionState | undefined,
  next: Next,
  output?: Out,
  failure?: AgentError,
  committedSeq: number = Number.POSITIVE_INFINITY,
): RunOutcome<Out> {
  const run = state?.run;
  const totals = run?.totals;
  const base = {
    text: lastTextOf(run),
    ...(run?.lastResponse?.cut && { cut: true as const }),
    turns: totals === undefined ? 0 : totals.turns - turnsBehind(state, committedSeq),
    usage: totals?.usage ?? UNKNOWN_USAGE,
    cost: totals === undefined || !totals.costKnown ? null : totals.cost,
    ...(totals?.estimated && { estimated: totals.estimated }),
    effects: effectsOf(run),
  };
  if (failure) return { ...base, reason: "error", error: failure };
  if (next.type === "waiting") return { ...base, reason: next.reason, waits: next.waits };
  const end = run?.end;
  if (end === undefined)
    return {
      ...base,
      reason: "error",
      error: new AgentError({ kind: "bug", message: `The run in session "${String(state?.id)}" is over without an end.` }),
    };
  const ended = { ...base, text: end.text, ...(end.why !== undefined && { why: end.why }) };
  switch (end.reason) {
    case "complete": {
      const value = output ?? end.output;
      // An agent without an output schema gives none, and its type says so.
      return { ...ended, reason: "complete", ...(value !== undefined && { output: value }) } as RunOutcome<Out>;
    }
    case "error":
      return { ...ended, reason: "error", error: new AgentError(knownFailure(end.failure ?? UNKNOWN_FAILURE)) };
    case "halted":
      return { ...ended, reason: "halted", halted: end.halted ?? UNKNOWN_HALT };
    default:
      return { ...ended, reason: end.reason, ...(end.limit && { limit: end.limit }) };
  }
}

/** They are this run's: nobody else writes while it works. */
function turnsBehind(state: SessionState | undefined, seq: number): number {
  return state?.turnBorders.filter((border) => border.session === state.id && border.seq > seq).length ?? 0;
}

// What a log that was written by others may leave out.
const UNKNOWN_FAILURE: Failure = { kind: "other", message: "The run failed, and its log does not say why." };
const UNKNOWN_HALT = { by: "unknown", reason: "its log does not say" };
