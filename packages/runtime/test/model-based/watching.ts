import type { AgentEvent } from "@keelson/protocol";
import type { Run } from "keelson";
import type { WatcherPlan } from "./story.ts";

/** One watcher of a handle, and what it saw. */
export interface Watching {
  readonly plan: WatcherPlan;
  /** Seq of the last record of the session when it began to watch; `undefined`: it watches from the handle's beginning. */
  readonly since: number | undefined;
  readonly events: AgentEvent[];
  /** It left before the end. */
  left: boolean;
  error: unknown;
  leave(): void;
  done: Promise<void>;
}

/** Watches as planned, at its own pace. @param rest lets the run go on for a while */
export function watchAsPlanned(run: Run<unknown>, plan: WatcherPlan, since: number | undefined, rest: () => Promise<void>): Watching {
  const events: AgentEvent[] = [];
  const iterator = (plan.after === undefined ? run : run.events({ after: plan.after }))[Symbol.asyncIterator]();
  const watching: Watching = {
    plan,
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
        if (result.done) return;
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
