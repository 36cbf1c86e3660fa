import type { JsonValue, Usage, Usd, ReachedLimit } from "@keelson/protocol";
import type { Context } from "./context.ts";

/** Numbers a rule may look at. Of the run so far; `elapsedMs` from recorded times. */
export interface ContextMetrics {
  readonly turnsCompleted: number;
  readonly modelCalls: number;
  readonly toolCallsTotal: number;
  readonly usage: Usage;
  /** What is known of the cost; a model without a price adds nothing here. */
  readonly cost: Usd;
  readonly elapsedMs: number;
}

/** The operations that a loop runs through its context, in the order of a turn. Own operations may have any other type. */
export type OperationType =
  | "inject-system"
  | "inject-message"
  | "inject-steering"
  | "steering-skip"
  | "compile"
  | "compact"
  | "infer"
  | "append-response"
  | "execute-tool"
  | "exit-check"
  | (string & {});

export type RuleTrigger =
  | { readonly type: "before" | "after"; readonly operation: OperationType }
  /** Asked once at the start of every operation, before any rule acts on it. */
  | { readonly type: "when"; predicate(context: Context): boolean }
  | { readonly type: "before-any" | "after-any" };

/**
 * What a rule wants. Nothing is `continue`. `modify-input` is heeded before an operation, `modify-output` after it; `skip`
 * answers in the operation's place.
 */
export type RuleAction =
  | { readonly type: "continue" }
  | {
      readonly type: "halt";
      readonly reason: string;
      readonly exit?: "max-turns" | "budget-exhausted" | "timeout";
      /** With `exit`: the limit that was reached, as the outcome tells it. */
      readonly limit?: ReachedLimit;
    }
  | { readonly type: "modify-input"; readonly input: JsonValue }
  | { readonly type: "modify-output"; readonly output: JsonValue }
  | { readonly type: "skip"; readonly output: JsonValue };

/**
 * What a rule is shown. In a run, `input` and `output` are these; a rule may replace those that are marked:
 *
 * | operation | input | output |
 * | --- | --- | --- |
 * | `inject-system`, `inject-message` | `{ message }` (replaceable; `skip` drops it) | |
 * | `inject-steering` | `{ messages }` (replaceable; `skip` with `null` drops them) | |
 * | `steering-skip` | `{ calls }`, those that did not run | |
 * | `compile` | | |
 * | `infer` | `{ model }` | `{ content, stopReason }`, or `{ failure }` |
 * | `append-response` | | |
 * | `execute-tool` | `{ name, input }` (replaceable; `skip` answers the call) | `{ output, isError }` (replaceable by the same, or by an output alone) |
 * | `compact` | `{ messages }`, their number | |
 * | `exit-check` | | |
 */
export interface RuleEvent {
  readonly context: Context;
  readonly operation: OperationType;
  readonly input: JsonValue | undefined;
  /** Only after the operation. */
  readonly output?: JsonValue;
}

/**
 * Fires around the operations of a context, highest priority first. A rule never triggers rules. Its verdict is a recorded
 * decision, so that after a crash it is read instead of taken again; a `pure` rule (one that depends on nothing but what
 * it is shown) is not recorded.
 */
export interface Rule {
  readonly name: string;
  readonly trigger: RuleTrigger;
  /** Default 0. */
  readonly priority?: number;
  readonly pure?: boolean;
  run(event: RuleEvent): RuleAction | void | Promise<RuleAction | void>;
}

type RuleBody = Rule["run"];

export function ruleBefore(operation: OperationType, name: string, priority: number, run: RuleBody): Rule {
  return { name, trigger: { type: "before", operation }, priority, run };
}

export function ruleAfter(operation: OperationType, name: string, priority: number, run: RuleBody): Rule {
  return { name, trigger: { type: "after", operation }, priority, run };
}

export function ruleWhen(name: string, priority: number, predicate: (context: Context) => boolean, run: RuleBody): Rule {
  return { name, trigger: { type: "when", predicate }, priority, run };
}
