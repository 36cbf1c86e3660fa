import type { Loop } from "./loop.ts";
import type { OpenCall, SettledCall } from "./pending-call.ts";
import { PartKey } from "./run-parts.ts";

/** Where a run is. */
export interface Place {
  /** What the keys of the turn begin with: `t3`. */
  readonly turn: string;
  readonly number: number;
  /** Whether the response that may be the last was neither cut nor withheld. Only before the end. */
  readonly isWhole?: boolean;
}

/** One thing that the loop, or a feature of it, does at a moment of a run. */
export interface Step {
  readonly name: string;
  /** Whether a run has anything of it to do here. Default: always. */
  applies?(loop: Loop, place: Place): boolean;
  /** Throws a `RunEnding` or a `Suspension` where the run is not to go on. */
  run(loop: Loop, place: Place): Promise<void>;
}

/**
 * A gate lets a call through, changes its arguments, settles it, or has a person asked: it returns the call as it goes on. After a
 * crash calls pass it again, so it goes by what the log holds and asks user code through `execution.decide` only.
 */
export interface Gate {
  readonly name: string;
  /** Whether a run has such a gate. Default: every run has. */
  applies?(loop: Loop): boolean;
  /** It is not passed again with arguments that an approver edited: what a person wrote is not changed. Default: it is. */
  readonly skipsEdited?: boolean;
  pass(loop: Loop, call: OpenCall): Promise<OpenCall | SettledCall>;
}

/** The moments of a run, and what is done at each of them, in order. */
export interface Moments {
  /** Once, before the first turn. What is decided is recorded, so that it may begin again after a crash. */
  readonly beforeRun: readonly Step[];
  /** When a run that has begun is taken up: after a wait, after its process ended, or for its next turn. */
  readonly onResume: readonly Step[];
  /** While no turn is open: the last of them opens the next. */
  readonly betweenTurns: readonly Step[];
  /** In the open turn, before the model is asked. */
  readonly beforeTurn: readonly Step[];
  /** What each call passes before it may run; once more with arguments that an approver edited. */
  readonly gates: readonly Gate[];
  /** After a turn that another one follows: the last of them closes it. After the last turn comes `beforeEnd` in its place. */
  readonly beforeNextTurn: readonly Step[];
  /** After a response that asks for nothing more. Behind each group it is seen whether there is something to respond to again. */
  readonly beforeEnd: readonly (readonly Step[])[];
  /** Between the result of a run and its terminal event. Nothing here changes how the run ends. */
  readonly afterResult: readonly Step[];
  /** When a run begins to wait for others. */
  readonly onSuspension: readonly Step[];
}

const MOMENTS = new PartKey<Moments>("moments");

export function momentsOf({ parts }: Loop): Moments {
  return parts.need(MOMENTS);
}

export function bindMoments({ parts }: Loop, moments: Moments): void {
  parts.set(MOMENTS, moments);
}

/** Does the steps of a moment that apply, one after another. */
export async function passMoment(loop: Loop, steps: readonly Step[], place: Place): Promise<void> {
  for (const step of steps) if (appliesAt(loop, step, place)) await step.run(loop, place);
}

export function appliesAt(loop: Loop, step: Step, place: Place): boolean {
  return step.applies === undefined || step.applies(loop, place);
}
