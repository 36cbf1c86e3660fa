import type { Content } from "./content.ts";
import type { Effect } from "./effect.ts";
import type { ExecutionContext } from "./execution-context.ts";
import type { OperatorId, SessionId } from "./ids.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { RunReason } from "./reason.ts";
import type { Usd } from "./usd.ts";

export type TriggerType = "user" | "task" | "signal" | "schedule" | "system-event" | (string & {});

/** Per invocation; what is absent is the implementation's default. */
export interface OperatorConfig {
  readonly maxTurns?: number;
  readonly maxCost?: Usd;
  readonly maxDurationMs?: number;
  readonly model?: string;
  /** Restricts sub-dispatch; tool names are operator names. */
  readonly allowedOperators?: readonly string[];
  readonly systemAddendum?: string;
}

/** Carries only what is new; history and memory are read while the context is assembled. */
export interface OperatorInput {
  readonly message: readonly Content[];
  readonly trigger: TriggerType;
  readonly session?: SessionId;
  readonly config?: OperatorConfig;
  readonly metadata: JsonObject;
}

export interface SubDispatchRecord {
  readonly name: string;
  readonly durationMs: number;
  readonly success: boolean;
}

/** Every field is concrete; what could not be tracked is zero and named in `untracked`. */
export interface OperatorMetadata {
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly cost: Usd;
  readonly turnsUsed: number;
  readonly subDispatches: readonly SubDispatchRecord[];
  readonly durationMs: number;
  readonly untracked: readonly string[];
}

/** The run's endings, and what others add: `halted` says by whom. */
export type ExitReason =
  | { readonly type: RunReason }
  | { readonly type: "halted"; readonly by: "rule" | "middleware" | "hook" | "plugin" | "strategy"; readonly reason: string }
  | { readonly type: "safety-stop"; readonly reason: string }
  | { readonly type: "custom"; readonly name: string }
  | { readonly type: "other"; readonly raw: JsonValue };

export interface OperatorOutput {
  readonly message: readonly Content[];
  readonly exitReason: ExitReason;
  readonly metadata: OperatorMetadata;
  readonly effects: readonly Effect[];
}

/** One method, atomic from outside: either an output or an `OperatorError`. */
export interface Operator {
  execute(input: OperatorInput, context: ExecutionContext): Promise<OperatorOutput>;
}

/** Operators by id, as orchestrators register them. */
export type OperatorRegistry = ReadonlyMap<OperatorId, Operator>;
