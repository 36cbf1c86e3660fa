import type { Approver, BudgetLedger, BudgetScope, EventLog } from "@keelson/protocol";
import type { Agent } from "../../src/agent/definition/agent.ts";
import type { Clock } from "../../src/platform/clock.ts";
import type { SingleRunner } from "../../src/agent/runner/runner.ts";
import { createMemoryBlobStore, createMemoryBudgetLedger, createMemoryEventLog } from "../../src/state/index.ts";
import { pointsUntil, type Points } from "./points.ts";
import { openRunner } from "./scenario.ts";
import { type SideEffects, sideEffectsInMemory } from "./side-effects.ts";

export interface Life {
  readonly runner: SingleRunner;
  readonly points: Points;
  /** Resolves when it stopped where it was to stop. */
  readonly died: Promise<void>;
}

export interface LifeOptions {
  readonly place?: string;
  readonly approver?: Approver;
  readonly budgets?: readonly BudgetScope[];
  /** What it sees of the log. */
  readonly log?: EventLog;
  readonly clock?: Clock;
  /** Whether `clock` says what time it is, and not the log's. */
  readonly keepsOwnTime?: boolean;
  /** Instead of `place`. */
  readonly points?: Points;
}

export interface Lives {
  readonly log: EventLog;
  readonly effects: SideEffects;
  /** Of the newest process: it dies with it. */
  readonly ledger: BudgetLedger;
  /** Lets time go by, for the log and for all lives. */
  pass(ms: number): void;
  /** A process that works with this agent, until it stops for good at `place`. An earlier one has lost its leases by then. */
  begin(agentOf: (life: { readonly points: Points; readonly effects: SideEffects }) => Agent<undefined>, options?: LifeOptions): Life;
}

const TTL_MS = 30_000;

/** One log in memory, and the processes that come and go on it. */
export function createLives(): Lives {
  let now = 1_700_000_000_000;
  let count = 0;
  const log = createMemoryEventLog({ now: () => now });
  const blobs = createMemoryBlobStore();
  const effects = sideEffectsInMemory();
  let ledger = createMemoryBudgetLedger();
  return {
    log,
    effects,
    get ledger() {
      return ledger;
    },
    pass(ms) {
      now += ms;
    },
    begin(agentOf, { place, approver, budgets, log: through = log, clock, keepsOwnTime = false, points: given } = {}) {
      count++;
      ledger = createMemoryBudgetLedger();
      now += TTL_MS + 1;
      const until = pointsUntil(place);
      const points = given ?? until;
      const runner = openRunner(
        {
          log: through,
          blobs,
          effects,
          ledger,
          points,
          ...(clock && { clock }),
          owner: `life-${count}`,
          leaseTtlMs: TTL_MS,
          ...(!keepsOwnTime && { now: () => now }),
        },
        () => agentOf({ points, effects }),
        approver,
        budgets === undefined ? {} : { budgets },
      );
      return { runner, points, died: until.died };
    },
  };
}
