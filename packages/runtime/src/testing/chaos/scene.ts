import type { BlobStore, BudgetLedger, EventLog, Orchestrator, Wait } from "@keelson/protocol";
import type { Agent } from "../../agent/definition/agent.ts";
import type { RunInput } from "../../agent/definition/run.ts";
import type { SingleRunner } from "../../agent/runner/runner.ts";
import type { ApprovalKeys } from "../../agent/turn/approval-keys.ts";
import type { RunnerServices } from "../../agent/turn/runner-services.ts";
import type { Clock } from "../../platform/clock.ts";

/** What every process of a run is given: goes into `createRunner` as it is. */
export interface ChaosServices {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly ledger: BudgetLedger;
  readonly clock: Clock;
  readonly owner: string;
  readonly leaseTtlMs: number;
  readonly recordsPerSnapshot: number;
  readonly approvalKeys: ApprovalKeys;
  readonly orchestrator?: Orchestrator;
  random(): number;
  newId(): string;
}

/** For stores of your own: they live in the time of the run. */
export interface ChaosTime {
  /** Unix ms. */
  now(): number;
  /** Whether the process that called itself so has crashed. */
  isDeadOwner(owner: string): boolean;
}

export interface ChaosStores {
  readonly log?: EventLog;
  readonly blobs?: BlobStore;
  readonly ledger?: BudgetLedger;
}

/** What is tried: an agent, what it is asked, and the world that it works on. */
export interface ChaosScene {
  /** Either this, or `runner`. */
  readonly agent?: Agent<never> | Agent<unknown> | Agent<undefined>;
  /** With `agent`: what its runner is given beside the stores. */
  readonly services?: Partial<Omit<RunnerServices, keyof ChaosServices>>;
  /**
   * Makes the runner, anew for each process. Only the models and tools of an agent that passed through `disturbed` take part.
   *
   * ```ts
   * runner: (services, disturbed) => createRunner({ ...services, agent: disturbed(desk), tasks })
   * ```
   */
  readonly runner?: (
    services: ChaosServices,
    disturbed: <Out>(agent: Agent<Out>) => Agent<Out>,
  ) => SingleRunner<never> | SingleRunner<unknown>;
  readonly input: RunInput;
  /** Default: stores in memory, made anew for each run. What is given here must be new, too; it is disposed of after the run. */
  readonly stores?: (time: ChaosTime) => ChaosStores;
  /** What the world is like after the run, as JSON: what was paid, sent, written. It must be as after the undisturbed run. */
  readonly world?: () => unknown;
  /**
   * Answers what the run asks, as a person or a program outside would. @returns whether it did: else approvals are allowed, timers come,
   * signals are sent with no payload, and about a write of which nobody knows whether it took effect is told what the tool did.
   */
  readonly answer?: (wait: Wait, runner: SingleRunner<unknown>) => Promise<boolean>;
}
