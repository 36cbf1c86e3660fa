import type { RunnerInternals } from "../runner-internals.ts";
import type { RehearseOptions } from "./rehearse-options.ts";
import type { RehearsalVerdict, RehearsedSession } from "./rehearsed-session.ts";

/** Sessions as they are found, one at a time. */
export interface Rehearsal extends AsyncIterable<RehearsedSession> {
  /** Of those that were given so far. */
  readonly totals: { readonly [V in RehearsalVerdict]: number };
  /** Whether all that were given so far are safe. */
  readonly isSafe: boolean;
}

/** @throws AgentError of kind `invalid-option` */
export function rehearse(runner: RunnerInternals, options: RehearseOptions): Rehearsal {
  const totals: { [V in RehearsalVerdict]: number } = { "goes-on": 0, "waits": 0, "asks": 0, "ends": 0, "refused": 0, "differs": 0 };
  let isSafe = true;
  return {
    totals,
    get isSafe() {
      return isSafe;
    },
    async *[Symbol.asyncIterator]() {
      const { rehearseSessions } = await import("./rehearse-sessions.ts");
      for await (const found of rehearseSessions(runner, options)) {
        totals[found.verdict]++;
        isSafe &&= found.isSafe;
        yield found;
      }
    },
  };
}
