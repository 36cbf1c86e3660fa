import type { Brand } from "./ids.ts";
import type { JsonValue } from "./json.ts";

export type FsmStateId = Brand<"FsmStateId">;
export type ActionId = Brand<"ActionId">;

/** A named condition on a transition; the name stands in the error when it refuses. Pure. */
export interface GuardCondition {
  readonly name: string;
  check(input: JsonValue): boolean;
}

/** Of several transitions for one action the one with the higher priority is tried first; one without a guard has 0. */
export interface FsmTransition {
  readonly target: FsmStateId;
  readonly guard?: GuardCondition;
  readonly priority: number;
}
