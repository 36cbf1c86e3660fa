import type { Content } from "./content.ts";
import type { Effect } from "./effect.ts";
import type { JsonValue } from "./json.ts";
import type { RunReason } from "./reason.ts";
import type { Usd } from "./usd.ts";

export type SubDispatchRecord = {
  readonly name: string;
  readonly durationMs: number;
  readonly success: boolean;
};

/** Every field is concrete; what could not be tracked is zero and named in `untracked`. */
export type OperatorMetadata = {
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly cost: Usd;
  readonly turnsUsed: number;
  readonly subDispatches: readonly SubDispatchRecord[];
  readonly durationMs: number;
  readonly untracked: readonly string[];
};

/** The run's endings, and what others add: `halted` says by whom. */
export type ExitReason =
  | { readonly type: RunReason }
  | { readonly type: "halted"; readonly by: "rule" | "middleware" | "hook" | "plugin" | "strategy"; readonly reason: string }
  | { readonly type: "safety-stop"; readonly reason: string }
  | { readonly type: "custom"; readonly name: string }
  | { readonly type: "other"; readonly raw: JsonValue };

export type OperatorOutput = {
  readonly message: readonly Content[];
  readonly exitReason: ExitReason;
  readonly metadata: OperatorMetadata;
  readonly effects: readonly Effect[];
};
