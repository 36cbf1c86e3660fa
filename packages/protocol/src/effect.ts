import type { Content } from "./content.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { Scope, StoreOptions } from "./state.ts";

export type EffectMeta = {
  readonly id: string;
  readonly causationId?: string;
  readonly correlationId?: string;
  readonly seq: number;
  /** Unix ms. */
  readonly at: number;
  /** How its execution ended, where the run that declared it had it executed. Absent: that is left to whoever called the operator. */
  readonly outcome?: "done" | "failed";
};

/** A side effect an operator declares. The layer that called the operator decides when and how it is executed. */
export type Effect = { readonly meta?: EffectMeta } & (
  | {
      readonly type: "write-memory";
      readonly scope: Scope;
      readonly key: string;
      readonly value: JsonValue;
      readonly options?: StoreOptions;
    }
  | { readonly type: "delete-memory"; readonly scope: Scope; readonly key: string }
  | { readonly type: "signal"; readonly target: string; readonly signal: Signal }
  | { readonly type: "delegate"; readonly operator: string; readonly message: readonly Content[]; readonly metadata?: JsonObject }
  | {
      readonly type: "handoff";
      readonly operator: string;
      readonly task: string;
      readonly history?: JsonValue;
      readonly metadata?: JsonObject;
    }
  | { readonly type: "link-memory"; readonly scope: Scope; readonly from: string; readonly to: string; readonly relation: string }
  | { readonly type: "unlink-memory"; readonly scope: Scope; readonly from: string; readonly to: string; readonly relation: string }
  | { readonly type: "tool-approval-required"; readonly toolName: string; readonly callId: string; readonly input: JsonValue }
  | { readonly type: "progress"; readonly message: string; readonly ratio?: number }
  | { readonly type: "artifact"; readonly name: string; readonly mediaType: string; readonly content: JsonValue }
  | { readonly type: "log"; readonly level: "debug" | "info" | "warn" | "error"; readonly message: string }
  | { readonly type: "observation"; readonly name: string; readonly value: JsonValue }
  | { readonly type: "metric"; readonly name: string; readonly value: number; readonly unit?: string }
  | { readonly type: "directive"; readonly directive: Directive }
  | { readonly type: "custom"; readonly name: string; readonly payload: JsonValue }
  | { readonly type: "other"; readonly raw: JsonValue }
);

/** An effect addressed to the runtime. Durations are human-readable strings such as `"30s"`. */
export type Directive =
  /** `event`: an `EmittedEvent`, or one of a type that is the program's own. */
  | { readonly type: "emit"; readonly event: JsonObject }
  | { readonly type: "spawn-agent"; readonly name: string; readonly config: JsonObject }
  | { readonly type: "stop-child"; readonly name: string }
  | { readonly type: "schedule"; readonly action: string; readonly delay: string }
  | { readonly type: "run-instruction"; readonly instruction: string; readonly input: JsonValue }
  | { readonly type: "cron"; readonly expression: string; readonly action: string; readonly timeZone?: string }
  | { readonly type: "stop"; readonly reason?: string }
  | { readonly type: "spawn-task"; readonly description: string; readonly input: JsonValue }
  | { readonly type: "stop-task"; readonly taskId: string }
  | { readonly type: "custom"; readonly customType: string; readonly payload: JsonValue }
  | { readonly type: "other"; readonly raw: JsonValue };

export type SignalKind = "stop" | "user-message" | "tool-result" | "timer" | (string & {});

export type Signal = {
  readonly kind: SignalKind;
  readonly payload: JsonValue;
  /** Where text in it comes from that nobody vouches for. Who is told the signal has it in context from then on. */
  readonly untrusted?: readonly string[];
};
