import type { AsyncLocalStorage } from "node:async_hooks";
import {
  AgentError,
  OperatorError,
  textMessage,
  UNKNOWN_USAGE,
  ZERO_USD,
  type CompactionPolicy,
  type JsonValue,
  type Message,
} from "@keelson/protocol";
import { Conversation } from "./conversation.ts";
import type { ContextMetrics, OperationType, Rule, RuleAction, RuleTrigger } from "./rule.ts";

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
  append(key: string | undefined, message: Message, policy: CompactionPolicy | undefined): void | Promise<void>;
  decide<T>(point: string, run: () => T | Promise<T>): Promise<T>;
  metrics(): ContextMetrics;
  /** Takes note that an observer failed. Default: nobody does. */
  warn?(message: string): void;
}

const NO_RULES: readonly Rule[] = [];
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

/** A rule at work. Operations that it runs itself are told from others by the asynchronous context they run in. */
interface Firing {
  readonly context: Context;
  /** Where the rule's verdict is recorded; messages it injects are named after it. */
  readonly point: string;
  readonly outer: Firing | undefined;
  injections: number;
  over: boolean;
}

let storage: AsyncLocalStorage<Firing> | undefined;

/**
 * One conversation with its rules and metrics. Every step of a pipeline goes through `run`, which fires the rules around
 * it. Without a binding it lives in memory and records nothing. Operations may run side by side: each meets every rule.
 */
export class Context {
  readonly conversation: Conversation;
  #rules: readonly Rule[] = [];
  /** Found when an operation of that type first runs. */
  #rulesByOperation: Map<OperationType, OperationRules> | undefined;
  #binding: ContextBinding | undefined;
  /** What tells apart rules of one name, of which each has its own verdicts. */
  #labels: ReadonlyMap<Rule, string> = NO_LABELS;
  #unnamed = 0;

  constructor(options: { readonly rules?: readonly Rule[]; readonly conversation?: Conversation; readonly binding?: ContextBinding } = {}) {
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
   * The single entry of every operation: fires the rules before it, executes it, fires the rules after it.
   * @throws OperatorError of kind `halted` when a rule halts; AgentError of kind `panic` when one throws
   */
  run<Output>(operation: Operation<Output>): Promise<Output> | Output {
    if (this.#rules.length === 0) return operation.execute(this, operation.input);
    const { before, after } = this.#rulesOf(operation.type);
    const isWatched = (before.length > 0 && operation.phase !== "after") || (after.length > 0 && operation.phase !== "before");
    if (!isWatched || this.#firing() !== undefined) return operation.execute(this, operation.input);
    return this.#runWithRules(operation);
  }

  /** The rule of this context inside of which the caller runs. */
  #firing(): Firing | undefined {
    let firing = storage?.getStore();
    while (firing !== undefined && (firing.context !== this || firing.over)) firing = firing.outer;
    return firing;
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

  async #runWithRules<Output>(operation: Operation<Output>): Promise<Output> {
    const key = operation.key ?? `${operation.type}/${++this.#unnamed}`;
    let input = operation.input;
    for (const rule of operation.phase === "after" ? NO_RULES : this.#rulesOf(operation.type).before) {
      const action = await this.#fire(rule, "before", operation, key, input, undefined);
      if (action?.type === "modify-input") input = changedInput(rule, operation, action.input);
      else if (action?.type === "skip") return accepted(rule, operation, action.output);
      else if (action?.type === "modify-output")
        throw misplaced(rule, operation.type, `there is no output before it: answer "skip" to give one in its place`);
    }
    let output: Output = await operation.execute(this, input);
    for (const rule of operation.phase === "before" ? NO_RULES : this.#rulesOf(operation.type).after) {
      const action = await this.#fire(rule, "after", operation, key, input, () => operation.show?.(output));
      if (action?.type === "modify-output") output = accepted(rule, operation, action.output);
      else if (action?.type === "modify-input" || action?.type === "skip")
        throw misplaced(rule, operation.type, `it has run already: answer "modify-output", or let the rule fire before it`);
    }
    return output;
  }

  async #fire<Output>(
    rule: Rule,
    phase: "before" | "after",
    operation: Operation<Output>,
    key: string,
    input: JsonValue | undefined,
    output: (() => JsonValue | undefined) | undefined,
  ): Promise<RuleAction | undefined> {
    const { trigger } = rule;
    const verdict = async (): Promise<RuleAction | null> => {
      try {
        if (trigger.type === "when" && !trigger.predicate(this)) return null;
        const shown = output?.();
        return (await rule.run({ context: this, operation: operation.type, input, ...(shown !== undefined && { output: shown }) })) ?? null;
      } catch (error) {
        throw AgentError.is(error, "panic")
          ? error
          : new AgentError(
              { kind: "panic", callback: `rule ${rule.name}`, message: `the rule "${rule.name}" threw: ${messageOf(error)}` },
              { cause: error },
            );
      }
    };
    const point = `${key}/rule/${phase}/${this.#labels.get(rule) ?? rule.name}`;
    storage ??= new (process.getBuiltinModule("node:async_hooks").AsyncLocalStorage)();
    const firing: Firing = { context: this, point, outer: storage.getStore(), injections: 0, over: false };
    let action: RuleAction | null;
    try {
      action = await storage.run(firing, async () =>
        rule.pure === true || !this.#binding ? verdict() : this.#binding.decide(point, verdict),
      );
    } catch (error) {
      throw AgentError.is(error)
        ? error
        : new AgentError(
            { kind: "panic", callback: `rule ${rule.name}`, message: `the rule "${rule.name}" threw: ${messageOf(error)}` },
            { cause: error },
          );
    } finally {
      firing.over = true;
    }
    if (action?.type === "halt") {
      throw new OperatorError({
        kind: "halted",
        by: rule.pure === true && action.exit ? "limit" : "rule",
        reason: action.reason,
        message: `the rule "${rule.name}" halted the run: ${action.reason}`,
        ...(action.exit && { exit: action.exit }),
      });
    }
    return action ?? undefined;
  }

  async #inject(type: OperationType, message: Message, policy: CompactionPolicy | undefined): Promise<void> {
    const firing = this.#firing();
    const key = firing && `${firing.point}/inject/${++firing.injections}`;
    await this.run({
      type,
      input: { message } as unknown as JsonValue,
      execute: (context, input) => {
        const final = (input as unknown as { readonly message: Message }).message;
        if (this.#binding) return this.#binding.append(key, final, policy);
        context.conversation.append(final, policy);
      },
      accept: () => undefined,
    });
  }
}

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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
