import type { EndReason, InferEvent } from "@keelson/protocol";
import type { ChaosSeam, ChaosStep } from "./step.ts";

/** What a fault may do to the process that it befalls, and to its time. */
export interface FaultHand {
  /** The process stops here for good: nothing that it had begun goes on, its timers are gone, its leases stay until they expire. */
  die(): Promise<never>;
  /** The process stands still, timers and all, until another has gone on in its place and is done. Where none can, it goes on at once. */
  freeze(): Promise<void>;
  /** Lets time pass: what waits for it goes on meanwhile. */
  sleep(ms: number): Promise<void>;
  /** Sets the clocks, of the process and of the stores; what waits is not woken by it. */
  jump(ms: number): void;
  /** Does this when nothing else is left to do. */
  later(act: () => Promise<unknown>): void;
  /** Says that something is wrong that nobody else would notice. */
  report(problem: string): void;
  /** 0 to 1, by the seed. */
  random(): number;
}

/**
 * One thing that may go wrong at a step. One of your own goes beside those of `chaosFaults`:
 *
 * ```ts
 * const full: ChaosFault = {
 *   name: "no space at",
 *   seams: ["append"],
 *   act: () => Promise.reject(new LogError({ kind: "full", message: "no space left" })),
 * };
 * ```
 */
export interface ChaosFault {
  /** What a step is named after it in reports: `crash before`, as in "crash before append#7". */
  readonly name: string;
  readonly seams: readonly ChaosSeam[];
  /** Whether it can befall this step of its seams. Default: every one. */
  befalls?(step: ChaosStep): boolean;
  /** Takes the step or does not, takes it twice or late, and gives what came of it or something else. Default: takes it. */
  act?<T>(act: () => Promise<T>, hand: FaultHand, step: ChaosStep): Promise<T>;
  /** The same for `model`: what the caller sees of a response. */
  stream?(respond: () => Promise<readonly InferEvent[]>, hand: FaultHand, step: ChaosStep): AsyncIterable<InferEvent>;
  /** How a run may end because of it, where it would have ended otherwise: the report tells of it, and it is no failure. */
  readonly mayEnd?: readonly EndReason[];
}

/** A fault and the step that it befalls. */
export interface PlannedFault {
  readonly fault: ChaosFault;
  /** Id of the step. */
  readonly at: string;
}

/** As reports name it, and `only` takes it: "crash after append#7". */
export function planName(plan: readonly PlannedFault[]): string {
  return plan.map(({ fault, at }) => `${fault.name} ${at}`).join(", ");
}
