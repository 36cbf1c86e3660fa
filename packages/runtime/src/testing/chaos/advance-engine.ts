import type { SessionId } from "@keelson/protocol";
import { createDurableOrchestrator } from "../../orchestration/create-durable-orchestrator.ts";
import type { Clock } from "../../platform/clock.ts";
import type { ChaosEngine } from "./engine.ts";

interface Due {
  /** Unix ms. */
  at: number;
  /** How often it was woken. */
  wakes: number;
  /** It failed: the time is waited for here. Else it is for others to say when it has come. */
  retry?: true;
}

/** What failed is tried again when a lease that was left behind is over. */
const RETRY_MS = 35_000;

/** A queue of due sessions, which outlives the processes: each advances one session after another, turn by turn, children too. */
export function advanceEngine(): ChaosEngine {
  const queue = new Map<SessionId, Due>();
  let isBegun = false;
  const wake = (session: SessionId): void => {
    const due = queue.get(session);
    queue.set(session, { at: 0, wakes: (due?.wakes ?? 0) + 1 });
  };
  return {
    orchestrator: (runner) => createDurableOrchestrator({ runner, wake: async (session) => wake(session) }),

    async work({ runner, services: { clock }, session, input, runId, deliver }) {
      if (!isBegun) {
        await deliver(`begin of ${session}`, () => runner.begin(session, input, { id: runId }));
        isBegun = true;
        wake(session);
      }
      for (let next = earliest(queue); next !== undefined; next = earliest(queue)) {
        const [name, { at, wakes, retry }] = next;
        if (retry) await untilTime(clock, at);
        else if (at > clock.now()) return;
        try {
          const { next: then } = await deliver(`turn of ${name}`, () => runner.advance(name));
          // Whoever woke it meanwhile wants it to look again.
          if (queue.get(name)?.wakes !== wakes) continue;
          if (then.type === "now") continue;
          if (then.type === "at") queue.set(name, { at: then.at, wakes });
          else queue.delete(name);
        } catch (error) {
          queue.delete(name);
          queue.set(name, { at: clock.now() + RETRY_MS, wakes, retry: true });
          throw error;
        }
      }
    },
  };
}

function earliest(queue: ReadonlyMap<SessionId, Due>): readonly [SessionId, Due] | undefined {
  let first: readonly [SessionId, Due] | undefined;
  for (const entry of queue) if (first === undefined || entry[1].at < first[1].at) first = entry;
  return first;
}

async function untilTime(clock: Clock, at: number): Promise<void> {
  const ms = at - clock.now();
  if (ms > 0) await new Promise<void>((resolve) => void clock.after(ms, resolve));
}
