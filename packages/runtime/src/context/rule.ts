import type {
  CompactionPolicy,
  JsonObject,
  JsonValue,
  Message,
  PermissionMode,
  ReachedLimit,
  SessionId,
  StateReader,
  Usage,
  Usd,
} from "@keelson/protocol";
import type { SummaryModel } from "./compaction/compact-in-memory.ts";
import type { CompactionStrategy } from "./compaction/strategy.ts";
import type { Conversation } from "./conversation.ts";
import type { PlannedRequest } from "./xray/xray-conversation.ts";
import type { Xray } from "./xray/xray-request.ts";

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
 * What a rule wants. Nothing is `continue`. `modify-input` counts before an operation, `modify-output` after it; `skip`
 * gives an output in the operation's place.
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

/** One act on a context, around which rules fire. `key` names it within its run, so that recorded verdicts find it again. */
export interface Operation<Output> {
  readonly type: OperationType;
  readonly key?: string;
  readonly input?: JsonValue;
  /** Fires only the rules before it, or only those after it: for an act whose two ends lie apart. Default both. */
  readonly phase?: "before" | "after";
  /** Rules may look at the input but not replace it: a `modify-input` is refused. */
  readonly inputIsFixed?: true;
  /** @param input the operation's input, as rules left it */
  execute(context: Context, input: JsonValue | undefined): Output | Promise<Output>;
  /** What rules see of the output; default: nothing. */
  show?(output: Output): JsonValue;
  /** Takes over what a rule put in the output's place. Without it, `modify-output` and `skip` are refused. */
  accept?(output: JsonValue): Output;
}

/** What a context does with messages and verdicts; a run records both in its log. */
export interface ContextBinding {
  append(
    key: string | undefined,
    message: Message,
    policy: CompactionPolicy | undefined,
    untrusted: readonly string[] | undefined,
  ): void | Promise<void>;
  /** Which session the conversation is of. */
  readonly session?: SessionId;
  decide<T>(point: string, run: () => Promise<T>): Promise<T>;
  /** What the tools of the run are given as `state`. */
  readonly state?: StateReader | undefined;
  /** The values that tools of the session keep, by name. */
  readonly kept?: JsonObject | undefined;
  /** Returns the permission mode of the run for the calls of its next response. */
  permissionMode?(): PermissionMode;
  /** Whether the verdict at a point is known already: what led to it is not asked again then. Default: of none. */
  isDecided?(point: string): boolean;
  /** Shortens the conversation by a strategy, as a recorded act, and resolves to true if it is shorter now. Default: it cannot be shortened here. */
  compact?(key: string, strategy: CompactionStrategy): Promise<boolean>;
  metrics(): ContextMetrics;
  /** Takes note that an observer failed. Default: nobody does. */
  warn?(message: string): void;
  /** The request that the run would make now. */
  planned?(): PlannedRequest;
}

/**
 * One conversation with its rules and metrics. Every step of a pipeline goes through `run`, which fires the rules around
 * it. Without a binding it lives in memory and records nothing. Operations may run side by side: each meets every rule.
 */
export interface Context {
  readonly conversation: Conversation;
  readonly messages: readonly Message[];
  readonly rules: readonly Rule[];
  readonly metrics: ContextMetrics;
  /** Which session the conversation is of, where it is bound to one. */
  readonly session: SessionId | undefined;
  /** What the run that it is bound to has as `state`. Untrusted text that is read of it here is labelled by whoever injects it. */
  readonly state: StateReader | undefined;
  /** The values that tools of the session keep with `call.keep`, by name. `undefined` if there are none. */
  readonly kept: JsonObject | undefined;
  /** The permission mode for the calls of the next response. `undefined` if the context is bound to no run. */
  readonly permissionMode: PermissionMode | undefined;
  addRule(rule: Rule): void;
  /** Notes that something which only looks on has failed; the operation goes on. */
  warn(message: string): void;
  /** Binds the context to a run: from now on messages and verdicts are recorded by it. */
  bind(binding: ContextBinding): void;
  /** Adds a system message; pinned, so that compaction keeps it. */
  injectSystem(text: string): Promise<void>;
  /** @param untrusted where text in it comes from that nobody vouches for: what a model asks for from then on is judged with it in context */
  injectMessage(message: Message, policy?: CompactionPolicy, untrusted?: readonly string[]): Promise<void>;
  /**
   * Shortens the conversation by a strategy, as the operation `compact`, and resolves to true if it is shorter now. In a run the log records it
   * and the run's model writes summaries; elsewhere the model in `options` does.
   * @throws AgentError of kind `invalid-option` for what is no strategy, or for a summary without a provider
   */
  compact(strategy: CompactionStrategy, options?: SummaryModel): Promise<boolean>;
  /**
   * The single entry of every operation: asks the predicates of its rules, fires the rules before it, executes it, fires the rules
   * after it.
   * @throws OperatorError of kind `halted` when a rule halts; AgentError of kind `panic` when one throws
   */
  run<Output>(operation: Operation<Output>): Promise<Output>;
  /**
   * Says of every token of a request where it comes from, what it costs and whether it was cached: of the next request of the run that the
   * context is bound to, or of the last, as its vendor counted it.
   * @param planned where the context is bound to no run: with which model, system prompt and tools its messages would be sent
   * @throws RangeError where neither says which model
   */
  xray(which?: "next" | "last", planned?: PlannedRequest): Promise<Xray>;
  /** Whether a rule fires around operations of this type. @param phase asks only about those before it, or only about those after it */
  watches(operation: OperationType, phase?: "before" | "after"): boolean;
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
