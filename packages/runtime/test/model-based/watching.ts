import type { AgentEvent } from "@keelson/protocol";
import type { Run } from "keelson";
import type { WatcherPlan } from "./story.ts";

/** One watcher of a handle, and what it saw. */
export interface Watching {
  readonly plan: WatcherPlan;
  /** Events up to this seq are not for it. `undefined`: what the handle shows. */
  readonly after: number | undefined;
  /** Seq of the last record of the session when it began to watch; `undefined`: it watches from the handle's beginning. */
  readonly since: number | undefined;
  readonly events: AgentEvent[];
  /** It left before the end. */
  left: boolean;
  error: unknown;
  leave(): void;
  done: Promise<void>;
}

export interface WatchOptions {
  readonly after: number | undefined;
  readonly since: number | undefined;
  /** Whether its process is gone, and the watcher with it. */
  isGone(): boolean;
  /** Lets the run go on for a while. */
  rest(): Promise<void>;
}

/** Watches as planned, at its own pace. */
export function watchAsPlanned(run: Run<unknown>, plan: WatcherPlan, { after, since, isGone, rest }: WatchOptions): Watching {
  const events: AgentEvent[] = [];
  const iterator = (after === undefined ? run : run.events({ after }))[Symbol.asyncIterator]();
  const watching: Watching = {
    plan,
    after,
    since,
    events,
    left: false,
    error: undefined,
    leave() {
      watching.left = true;
      void iterator.return?.();
    },
    done: Promise.resolve(),
  };
  watching.done = (async () => {
    try {
      for (;;) {
        const result = await iterator.next();
        if (result.done || isGone()) return;
        events.push(result.value);
        if (events.length === plan.leavesAfter) return watching.leave();
        if (events.length % plan.pace === 0) await rest();
      }
    } catch (error) {
      watching.error = error;
    }
  })();
  return watching;
}
