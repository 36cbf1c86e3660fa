import type { Effect, SuspendReason, Wait } from "@keelson/protocol";
import type { ChildEnding, ChildState } from "../../../session/child-state.ts";
import type { Handoff } from "../../definition/children/handoff.ts";

/** Why something can't go on for now. */
export interface Waiting {
  readonly reason: SuspendReason;
  readonly waits: readonly Wait[];
}

/** One piece of work beside the turns of a run, at work in this process. */
export interface Work {
  readonly state: ChildState;
  /** How it ended, once it did. */
  ending: ChildEnding | undefined;
  /** Why it can't go on for now. */
  waiting: Waiting | undefined;
  /** What it declared and left to whoever started it. */
  effects: readonly Effect[];
  /** The model knows how it ended. */
  isTold?: boolean;
  /** Who goes on with its task. */
  handoff: Handoff | undefined;
  /** Resolves when nothing of it is at work here any more. Never rejects. */
  readonly done: Promise<void>;
  /** Ends it soon, with what it has. */
  stop(): void;
  /** Leaves it where it waits: the run lets go of it. */
  leave(): void;
}
