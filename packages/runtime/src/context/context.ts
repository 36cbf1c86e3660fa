import { AgentError, textMessage, UNKNOWN_USAGE, ZERO_USD, type CompactionPolicy, type JsonValue, type Message } from "@keelson/protocol";
import { Conversation } from "./conversation.ts";
import { fireRule, firingIn, predicateHolds } from "./fire-rule.ts";
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
import { whenThere } from "../platform/when-there.ts";

const NO_RULES: readonly Rule[] = [];
const NO_IDLE_RULES: ReadonlySet<Rule> = new Set();
const NO_LABELS: ReadonlyMap<Rule, string> = new Map();

/** The rules that look at one type of operation. */
interface OperationRules {
  readonly before: readonly Rule[];
  readonly after: readonly Rule[];
}

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
  /** Found when an operation of that type first runs. */
  #rulesByOperation: Map<OperationType, OperationRules> | undefined;
  #binding: ContextBinding | undefined;
  /** What tells apart rules of one name, of which each has its own verdicts. */
  #labels: ReadonlyMap<Rule, string> = NO_LABELS;
  #unnamed = 0;

  constructor(options: ContextOptions = {}) {
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

  async injectMessage(message: Message, policy?: CompactionPolicy): Promise<void> {
    await this.#inject("inject-message", message, policy);
  }

  /**
   * The single entry of every operation: asks the predicates of its rules, fires the rules before it, executes it, fires the rules
   * after it.
   * @throws OperatorError of kind `halted` when a rule halts; AgentError of kind `panic` when one throws
   */
  run<Output>(operation: Operation<Output>): Promise<Output> | Output {
    const { type, phase, input } = operation;
    if (!this.watches(type, phase) || firingIn(this) !== undefined) return operation.execute(this, input);
    const key = operation.key ?? `${type}/${++this.#unnamed}`;
    const rules = phase === "after" ? NO_RULES : this.#rulesOf(type).before;
    try {
      return this.#enter(operation, key, rules, this.#idleOf(rules, key), 0, input);
    } catch (error) {
      // Whether rules wait or not, what they refuse is a rejection.
      return Promise.reject(error);
    }
  }

  /** Whether a rule fires around operations of this type. @param phase asks only about those before it, or only about those after it */
  watches(operation: OperationType, phase?: "before" | "after"): boolean {
    if (this.#rules.length === 0) return false;
    const { before, after } = this.#rulesByOperation?.get(operation) ?? this.#rulesOf(operation);
    return (before.length > 0 && phase !== "after") || (after.length > 0 && phase !== "before");
  }

  #setRules(rules: readonly Rule[]): void {
    this.#rules = byPriority(rules);
    this.#rulesByOperation = undefined;
    const seen = new Map<string, number>();
    this.#labels = new Map(
      this.#rules.map((rule) => {
        const count = (seen.get(rule.name) ?? 0) + 1;
        seen.set(rule.name, count);
        return [rule, count === 1 ? rule.name : `${rule.name}#${count}`];
      }),
    );
  }

  #rulesOf(operation: OperationType): OperationRules {
    const known = (this.#rulesByOperation ??= new Map());
    let rules = known.get(operation);
    if (rules === undefined) {
      rules = {
        before: this.#rules.filter(({ trigger }) => trigger.type === "when" || firesAt("before", trigger, operation)),
        after: this.#rules.filter(({ trigger }) => firesAt("after", trigger, operation)),
      };
      known.set(operation, rules);
    }
    return rules;
  }

  /** Those whose predicate does not hold as the operation begins: no other rule has acted by then. */
  #idleOf(rules: readonly Rule[], key: string): ReadonlySet<Rule> {
    let idle: Set<Rule> | undefined;
    for (const rule of rules) {
      const point = this.#pointOf(rule, "before", key);
      if (rule.pure !== true && this.#binding?.isDecided?.(point)) continue;
      if (!predicateHolds(this, rule, point)) (idle ??= new Set()).add(rule);
    }
    return idle ?? NO_IDLE_RULES;
  }

  #pointOf(rule: Rule, phase: "before" | "after", key: string): string {
    return `${key}/rule/${phase}/${this.#labels.get(rule) ?? rule.name}`;
  }

  /** Fires the rules before an operation, from the one at `index` on, and goes on with it. A promise only where something waits. */
  #enter<Output>(
    operation: Operation<Output>,
    key: string,
    rules: readonly Rule[],
    idle: ReadonlySet<Rule>,
    index: number,
    input: JsonValue | undefined,
  ): Output | Promise<Output> {
    for (let next = index; next < rules.length; next++) {
      const rule = rules[next] as Rule;
      const firing = this.#fire(rule, "before", operation.type, key, input, undefined, idle.has(rule));
      if (firing === undefined) continue;
      return whenThere(firing, (action) => {
        if (action?.type === "skip") return accepted(rule, operation, action.output);
        if (action?.type === "modify-output")
          throw misplaced(rule, operation.type, `there is no output before it: answer "skip" to give one in its place`);
        const changed = action?.type === "modify-input" ? changedInput(rule, operation, action.input) : input;
        return this.#enter(operation, key, rules, idle, next + 1, changed);
      });
    }
    const output = operation.execute(this, input);
    if (operation.phase === "before") return output;
    return whenThere(output, (given) => this.#leave(operation, key, this.#rulesOf(operation.type).after, 0, input, given));
  }

  /** Likewise after it. */
  #leave<Output>(
    operation: Operation<Output>,
    key: string,
    rules: readonly Rule[],
    index: number,
    input: JsonValue | undefined,
    output: Output,
  ): Output | Promise<Output> {
    for (let next = index; next < rules.length; next++) {
      const rule = rules[next] as Rule;
      const firing = this.#fire(rule, "after", operation.type, key, input, () => operation.show?.(output));
      if (firing === undefined) continue;
      return whenThere(firing, (action) => {
        if (action?.type === "modify-input" || action?.type === "skip")
          throw misplaced(rule, operation.type, `it has run already: answer "modify-output", or let the rule fire before it`);
        const changed = action?.type === "modify-output" ? accepted(rule, operation, action.output) : output;
        return this.#leave(operation, key, rules, next + 1, input, changed);
      });
    }
    return output;
  }

  #fire(
    rule: Rule,
    phase: "before" | "after",
    operation: OperationType,
    key: string,
    input: JsonValue | undefined,
    output?: () => JsonValue | undefined,
    isIdle: boolean = false,
  ): RuleAction | undefined | Promise<RuleAction | undefined> {
    const point = this.#pointOf(rule, phase, key);
    return fireRule({ context: this, rule, operation, input, output, isIdle, point, binding: this.#binding });
  }

  async #inject(type: MessageOperationType, message: Message, policy: CompactionPolicy | undefined): Promise<void> {
    const firing = firingIn(this);
    const key = firing && `${firing.point}/inject/${++firing.injections}`;
    await this.run(
      messageOperation(type, undefined, message, (final, context) =>
        this.#binding ? this.#binding.append(key, final, policy) : context.conversation.append(final, policy),
      ),
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
