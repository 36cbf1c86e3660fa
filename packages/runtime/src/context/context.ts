import {
  AgentError,
  textMessage,
  UNKNOWN_USAGE,
  ZERO_USD,
  type CompactionPolicy,
  type JsonObject,
  type JsonValue,
  type Message,
  type PermissionMode,
  type SessionId,
  type StateReader,
} from "@keelson/protocol";
import { checkOptionNames } from "../json/option-names.ts";
import type { SummaryModel } from "./compaction/compact-in-memory.ts";
import { checkStrategy, type CompactionStrategy } from "./compaction/strategy.ts";
import { Conversation } from "./conversation.ts";
import { type Encounter, fireRule, firingIn, predicateHolds } from "./fire-rule.ts";
import type { PlannedRequest } from "./xray/xray-conversation.ts";
import type { Xray } from "./xray/xray-request.ts";
import { messageOperation, type MessageOperationType } from "./message-operation.ts";
import type {
  Context as ContextOfRules,
  ContextBinding,
  ContextMetrics,
  Operation,
  OperationType,
  Rule,
  RuleAction,
  RuleTrigger,
} from "./rule.ts";

const NO_METRICS: ContextMetrics = {
  turnsCompleted: 0,
  modelCalls: 0,
  toolCallsTotal: 0,
  usage: UNKNOWN_USAGE,
  cost: ZERO_USD,
  elapsedMs: 0,
};

/** What rules see of a context is all of it, so its type stands beside theirs. */
export type Context = ContextOfRules;

export interface ContextOptions {
  readonly rules?: readonly Rule[];
  readonly conversation?: Conversation;
  readonly binding?: ContextBinding;
}

class RuledContext implements ContextOfRules {
  readonly conversation: Conversation;
  #rules: readonly Rule[] = [];
  #binding: ContextBinding | undefined;
  /** What tells apart rules of one name, of which each has its own verdicts. */
  #labels: ReadonlyMap<Rule, string> = new Map();
  #unnamed = 0;

  constructor(options: ContextOptions = {}) {
    checkOptionNames("new Context", options, { rules: true, conversation: true, binding: true });
    this.conversation = options.conversation ?? new Conversation();
    this.#binding = options.binding;
    if (options.rules) this.#setRules(options.rules);
  }

  get messages(): readonly Message[] {
    return this.conversation.messages;
  }

  get rules(): readonly Rule[] {
    return this.#rules;
  }

  get metrics(): ContextMetrics {
    return this.#binding?.metrics() ?? NO_METRICS;
  }

  get session(): SessionId | undefined {
    return this.#binding?.session;
  }

  get state(): StateReader | undefined {
    return this.#binding?.state;
  }

  get kept(): JsonObject | undefined {
    return this.#binding?.kept;
  }

  get permissionMode(): PermissionMode | undefined {
    return this.#binding?.permissionMode?.();
  }

  addRule(rule: Rule): void {
    this.#setRules([...this.#rules, rule]);
  }

  /** Notes that something which only looks on has failed; the operation goes on. */
  warn(message: string): void {
    this.#binding?.warn?.(message);
  }

  /** Binds the context to a run: from now on messages and verdicts are recorded by it. */
  bind(binding: ContextBinding): void {
    this.#binding = binding;
  }

  /** Adds a system message; pinned, so that compaction keeps it. */
  async injectSystem(text: string): Promise<void> {
    await this.#inject("inject-system", textMessage("system", text), "pinned");
  }

  async injectMessage(message: Message, policy?: CompactionPolicy, untrusted?: readonly string[]): Promise<void> {
    await this.#inject("inject-message", message, policy, untrusted);
  }

  async compact(strategy: CompactionStrategy, options: SummaryModel = {}): Promise<boolean> {
    checkOptionNames("context.compact", options, { provider: true, model: true, signal: true });
    const checked = checkStrategy(strategy, "strategy");
    const binding = this.#binding;
    if (binding === undefined) {
      const { compactInMemory } = await import("./compaction/compact-in-memory.ts");
      return this.run({
        type: "compact",
        input: { messages: this.messages.length },
        inputIsFixed: true,
        execute: () => compactInMemory(this.conversation, checked, options),
      });
    }
    if (binding.compact === undefined)
      throw new AgentError({
        kind: "invalid-option",
        option: "strategy",
        message: "What this context is bound to cannot compact its conversation.",
      });
    const firing = firingIn(this);
    return binding.compact(firing ? `${firing.point}/compact/${++firing.injections}` : `compact/${++this.#unnamed}`, checked);
  }

  /**
   * The single entry of every operation: asks the predicates of its rules, fires the rules before it, executes it, fires the rules
   * after it.
   * @throws OperatorError of kind `halted` when a rule halts; AgentError of kind `panic` when one throws
   */
  async run<Output>(operation: Operation<Output>): Promise<Output> {
    const { type, phase } = operation;
    if (!this.watches(type, phase) || firingIn(this) !== undefined) return await operation.execute(this, operation.input);
    const key = operation.key ?? `${type}/${++this.#unnamed}`;
    let { input } = operation;

    const before = phase === "after" ? [] : this.#rulesBefore(type);
    const idle = this.#idleOf(before, key);
    for (const rule of before) {
      const action = await this.#fire(rule, "before", operation, key, { input, isIdle: idle.has(rule) });
      if (action?.type === "skip") return accepted(rule, operation, action.output);
      if (action?.type === "modify-output")
        throw misplaced(rule, type, `there is no output before it: return "skip" to give one in its place`);
      if (action?.type === "modify-input") input = changedInput(rule, operation, action.input);
    }

    let output: Output = await operation.execute(this, input);

    const after = phase === "before" ? [] : this.#rulesAfter(type);
    for (const rule of after) {
      const action = await this.#fire(rule, "after", operation, key, { input, output: () => operation.show?.(output) });
      if (action?.type === "modify-input" || action?.type === "skip")
        throw misplaced(rule, type, `it has run already: return "modify-output", or let the rule fire before it`);
      if (action?.type === "modify-output") output = accepted(rule, operation, action.output);
    }
    return output;
  }

  async xray(which: "next" | "last" = "next", planned: PlannedRequest | undefined = this.#binding?.planned?.()): Promise<Xray> {
    if (planned === undefined) throw new RangeError("This context is bound to no run: give xray the request, and the model it is for");
    const { xrayConversation } = await import("./xray/xray-conversation.ts");
    return xrayConversation(planned, which);
  }

  /** Whether a rule fires around operations of this type. @param phase asks only about those before it, or only about those after it */
  watches(operation: OperationType, phase?: "before" | "after"): boolean {
    return (phase !== "after" && this.#rulesBefore(operation).length > 0) || (phase !== "before" && this.#rulesAfter(operation).length > 0);
  }

  #setRules(rules: readonly Rule[]): void {
    this.#rules = byPriority(rules);
    const seen = new Map<string, number>();
    this.#labels = new Map(
      this.#rules.map((rule) => {
        const count = (seen.get(rule.name) ?? 0) + 1;
        seen.set(rule.name, count);
        return [rule, count === 1 ? rule.name : `${rule.name}#${count}`];
      }),
    );
  }

  #rulesBefore(operation: OperationType): readonly Rule[] {
    return this.#rules.filter(({ trigger }) => trigger.type === "when" || firesAt("before", trigger, operation));
  }

  #rulesAfter(operation: OperationType): readonly Rule[] {
    return this.#rules.filter(({ trigger }) => firesAt("after", trigger, operation));
  }

  /** Those whose predicate does not hold as the operation begins: no other rule has acted by then. */
  #idleOf(rules: readonly Rule[], key: string): ReadonlySet<Rule> {
    const idle = new Set<Rule>();
    for (const rule of rules) {
      const point = this.#pointOf(rule, "before", key);
      const isDecided = rule.pure !== true && this.#binding?.isDecided?.(point) === true;
      if (!isDecided && !predicateHolds(this, rule, point)) idle.add(rule);
    }
    return idle;
  }

  #pointOf(rule: Rule, phase: "before" | "after", key: string): string {
    return `${key}/rule/${phase}/${this.#labels.get(rule) ?? rule.name}`;
  }

  #fire<Output>(
    rule: Rule,
    phase: "before" | "after",
    operation: Operation<Output>,
    key: string,
    shown: Pick<Encounter, "input" | "output" | "isIdle">,
  ): Promise<RuleAction | undefined> {
    const point = this.#pointOf(rule, phase, key);
    return fireRule({ context: this, rule, operation: operation.type, point, binding: this.#binding, ...shown });
  }

  async #inject(
    type: MessageOperationType,
    message: Message,
    policy: CompactionPolicy | undefined,
    untrusted?: readonly string[],
  ): Promise<void> {
    const firing = firingIn(this);
    const key = firing && `${firing.point}/inject/${++firing.injections}`;
    await this.run(
      messageOperation(type, undefined, message, async (final, context) => {
        if (this.#binding) await this.#binding.append(key, final, policy, untrusted);
        else context.conversation.append(final, policy);
      }),
    );
  }
}

export const Context: new (options?: ContextOptions) => Context = RuledContext;

function accepted<Output>(rule: Rule, operation: Operation<Output>, output: JsonValue): Output {
  if (operation.accept) return operation.accept(output);
  throw misplaced(rule, operation.type, "its output cannot be replaced: let it continue or halt instead");
}

function changedInput<Output>(rule: Rule, operation: Operation<Output>, input: JsonValue): JsonValue {
  if (operation.inputIsFixed !== true && operation.input !== undefined) return input;
  throw misplaced(rule, operation.type, "its input is for rules to look at: let it continue or halt instead");
}

function misplaced(rule: Rule, operation: OperationType, why: string): AgentError {
  return new AgentError({
    kind: "panic",
    callback: `rule ${rule.name}`,
    message: `the rule "${rule.name}" cannot do that at "${operation}": ${why}`,
  });
}

function firesAt(phase: "before" | "after", trigger: RuleTrigger, operation: OperationType): boolean {
  return trigger.type === `${phase}-any` || (trigger.type === phase && trigger.operation === operation);
}

/** Highest first; among equals in the order they were added. */
function byPriority(rules: readonly Rule[]): readonly Rule[] {
  return rules.toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0));
}
