import type { AsyncLocalStorage } from "node:async_hooks";
import { AgentError, OperatorError, type JsonValue } from "@keelson/protocol";
import type { Context, ContextBinding, OperationType, Rule, RuleAction } from "./rule.ts";

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

/** The rule of this context inside of which the caller runs. */
export function firingIn(context: Context): Firing | undefined {
  let firing = storage?.getStore();
  while (firing !== undefined && (firing.context !== context || firing.over)) firing = firing.outer;
  return firing;
}

/** One rule that meets one operation. */
export interface Encounter {
  readonly context: Context;
  readonly rule: Rule;
  readonly operation: OperationType;
  readonly input: JsonValue | undefined;
  /** Only after the operation. */
  readonly output?: () => JsonValue | undefined;
  /** Its predicate did not hold when the operation began. */
  readonly isIdle?: boolean;
  readonly point: string;
  readonly binding: ContextBinding | undefined;
}

/**
 * Fires a rule.
 * @throws OperatorError of kind `halted` when the rule halts; AgentError of kind `panic` when it throws
 */
export async function fireRule(encounter: Encounter): Promise<RuleAction | undefined> {
  const { context, rule, point } = encounter;
  const firing = firingAt(context, point);
  let action: RuleAction | null;
  try {
    action = await firings().run(firing, recordedVerdict, encounter);
  } finally {
    firing.over = true;
  }
  if (action?.type === "halt") throw haltedBy(rule, action);
  return action ?? undefined;
}

/**
 * Whether the predicate of a rule holds, where it has one.
 * @throws AgentError of kind `panic` when it throws
 */
export function predicateHolds(context: Context, rule: Rule, point: string): boolean {
  const { trigger } = rule;
  if (trigger.type !== "when") return true;
  const firing = firingAt(context, point);
  try {
    return firings().run(firing, () => trigger.predicate(context));
  } catch (error) {
    return thrownBy(rule, error);
  } finally {
    firing.over = true;
  }
}

function firings(): AsyncLocalStorage<Firing> {
  return (storage ??= new (process.getBuiltinModule("node:async_hooks").AsyncLocalStorage)());
}

function firingAt(context: Context, point: string): Firing {
  return { context, point, outer: firings().getStore(), injections: 0, over: false };
}

async function recordedVerdict(encounter: Encounter): Promise<RuleAction | null> {
  const { rule, point, binding } = encounter;
  if (rule.pure === true || binding === undefined) return await verdictOf(encounter);
  return await binding.decide(point, () => verdictOf(encounter));
}

async function verdictOf({ context, rule, operation, input, output, isIdle }: Encounter): Promise<RuleAction | null> {
  if (isIdle === true) return null;
  try {
    const shown = output?.();
    const action = await rule.run({ context, operation, input, ...(shown !== undefined && { output: shown }) });
    return action ?? null;
  } catch (error) {
    return thrownBy(rule, error);
  }
}

function thrownBy(rule: Rule, error: unknown): never {
  throw AgentError.is(error, "panic") ? error : panicOf(rule, error);
}

function panicOf({ name }: Rule, error: unknown): AgentError {
  const message = `the rule "${name}" threw: ${error instanceof Error ? error.message : String(error)}`;
  return new AgentError({ kind: "panic", callback: `rule ${name}`, message }, { cause: error });
}

function haltedBy(rule: Rule, { reason, exit, limit }: RuleAction & { readonly type: "halt" }): OperatorError {
  return new OperatorError({
    kind: "halted",
    by: rule.pure === true && exit ? "limit" : "rule",
    reason,
    message: `the rule "${rule.name}" halted the run: ${reason}`,
    ...(exit && { exit }),
    ...(limit && { limit }),
  });
}
