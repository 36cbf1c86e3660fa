import type { AlwaysChoice, AskedPart, PermissionBehavior, PermissionRule } from "@keelson/protocol";

export interface PermissionDecision {
  readonly behavior: PermissionBehavior;
  /** Which rule or mode decided, and what to do about it. Told to the person who is asked, and to the model on a denial. */
  readonly reason: string;
  readonly rule?: PermissionRule;
  /** The text that a person reads first, of a decision to ask. */
  readonly shown?: ShownQuestion;
  /** Of `ask`: what a person may allow for good, narrowest first. Absent: nothing but this one call. */
  readonly always?: readonly AlwaysChoice[];
}

/** A question as a person reads it. */
export interface ShownQuestion {
  /** One sentence: what would happen, and why it is asked about. */
  readonly summary: string;
  /** The commands of a command line that starts several. */
  readonly parts?: readonly AskedPart[];
}
