import {
  type BudgetAmount,
  type BudgetScope,
  type BudgetUnit,
  fromPicoUsd,
  LogError,
  type Reservation,
  toPicoUsd,
  type Usd,
} from "@keelson/protocol";
import { checkOptionNames, type OptionNames } from "../../json/option-names.ts";

/**
 * Amounts of each unit, in the order of {@link UNITS}, as whole numbers; money is in pico-dollars. What was not named is
 * `undefined`, or missing at the end: amounts of money alone have one element.
 */
export type Amounts = readonly (bigint | undefined)[];

const AMOUNT: OptionNames<BudgetAmount> = { cost: true, tokens: true, turns: true, toolCalls: true, modelCalls: true };
/** A misspelt limit would bound nothing. */
const SCOPE: OptionNames<BudgetScope> = {
  id: true,
  maxCost: true,
  maxTokens: true,
  maxTurns: true,
  maxToolCalls: true,
  maxModelCalls: true,
  unknownPrice: true,
  withoutUsage: true,
};

const UNITS: readonly BudgetUnit[] = ["cost", "tokens", "turns", "tool-calls", "model-calls"];

/** @throws LogError `invalid-input` unless all of it are amounts from zero; it begins with `what` and, in quotes, `name` */
export function amountsOf(amount: Usd | BudgetAmount, what: string, name: string): Amounts {
  if (typeof amount === "string") return [moneyOf(amount, what, name)];
  checkOptionNames(`${what} "${name}"`, amount, AMOUNT);
  const { cost, tokens, turns, toolCalls, modelCalls } = amount;
  return inOrder(cost, tokens, turns, toolCalls, modelCalls, what, name);
}

/** What each scope allows. One that is named twice counts once, at the lower of its limits. @throws LogError `invalid-input` */
export function limitsByScope(scopes: readonly BudgetScope[]): ReadonlyMap<string, Amounts> {
  const limits = new Map<string, Amounts>();
  for (const scope of scopes) {
    const { id, maxCost, maxTokens, maxTurns, maxToolCalls, maxModelCalls } = scope;
    checkOptionNames(`The budget "${id}"`, scope, SCOPE);
    const own = inOrder(maxCost, maxTokens, maxTurns, maxToolCalls, maxModelCalls, "the limit of", id);
    const other = limits.get(id);
    limits.set(id, other === undefined ? own : UNITS.map((_, unit) => lower(own[unit], other[unit])));
  }
  return limits;
}

function lower(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a;
}

function inOrder(
  cost: Usd | undefined,
  tokens: number | undefined,
  turns: number | undefined,
  toolCalls: number | undefined,
  modelCalls: number | undefined,
  what: string,
  name: string,
): Amounts {
  const money = cost === undefined ? undefined : moneyOf(cost, what, name);
  if (tokens === undefined && turns === undefined && toolCalls === undefined && modelCalls === undefined)
    return money === undefined ? [] : [money];
  return [
    money,
    countOf(tokens, 1, what, name),
    countOf(turns, 2, what, name),
    countOf(toolCalls, 3, what, name),
    countOf(modelCalls, 4, what, name),
  ];
}

function countOf(count: number | undefined, unit: number, what: string, name: string): bigint | undefined {
  if (count === undefined) return undefined;
  if (!Number.isSafeInteger(count) || count < 0)
    throw invalidInput(`${what} "${name}" must have a whole number of ${UNITS[unit]} from zero; it has ${String(count)}.`);
  return BigInt(count);
}

function moneyOf(amount: Usd, what: string, name: string): bigint {
  let pico: bigint;
  try {
    pico = toPicoUsd(amount);
  } catch (cause) {
    throw invalidInput(`${what} "${name}" must be a decimal amount in US dollars; it is ${JSON.stringify(amount)}.`, cause);
  }
  if (pico < 0n) throw invalidInput(`${what} "${name}" must not be negative; it is ${amount}.`);
  return pico;
}

export function invalidInput(message: string, cause?: unknown): LogError {
  return new LogError({ kind: "invalid-input", message }, cause === undefined ? undefined : { cause });
}

export function sameAmounts(a: Amounts, b: Amounts): boolean {
  for (let unit = 0; unit < Math.max(a.length, b.length); unit++) if ((a[unit] ?? 0n) !== (b[unit] ?? 0n)) return false;
  return true;
}

export function sum(a: Amounts, b: Amounts): Amounts {
  return added(a, b, 1n);
}

export function difference(a: Amounts, b: Amounts): Amounts {
  return added(a, b, -1n);
}

function added(a: Amounts, b: Amounts, times: 1n | -1n): Amounts {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, unit) => {
    return (a[unit] ?? 0n) + times * (b[unit] ?? 0n);
  });
}

export function writeAmounts(amounts: Amounts): string {
  return amounts.join(",");
}

export function readAmounts(text: string): (bigint | undefined)[] {
  return text === "" ? [] : text.split(",").map((amount) => (amount === "" ? undefined : BigInt(amount)));
}

export function moneyIn(amounts: Amounts): Usd {
  return fromPicoUsd(amounts[0] ?? 0n);
}

export function budgetAmountOf(amounts: Amounts): Required<BudgetAmount> {
  const [, tokens = 0n, turns = 0n, toolCalls = 0n, modelCalls = 0n] = amounts;
  return {
    cost: moneyIn(amounts),
    tokens: Number(tokens),
    turns: Number(turns),
    toolCalls: Number(toolCalls),
    modelCalls: Number(modelCalls),
  };
}

/** What counts against one scope. */
export interface Standing {
  readonly spent: Amounts;
  readonly reserved: Amounts;
}

/** The first unit for which what is spent leaves too little. */
export function refusalBy(scope: string, limits: Amounts, standing: Standing | undefined, wanted: Amounts): Reservation | undefined {
  for (let unit = 0; unit < wanted.length; unit++) {
    const amount = wanted[unit];
    const limit = limits[unit];
    if (amount === undefined || limit === undefined) continue;
    const spent = standing?.spent[unit] ?? 0n;
    if (spent + amount <= limit) continue;
    if (unit === 0) return { type: "refused", scope, limit: fromPicoUsd(limit), spent: fromPicoUsd(spent) };
    return { type: "refused", scope, unit: UNITS[unit] as Exclude<BudgetUnit, "cost">, limit: Number(limit), spent: Number(spent) };
  }
  return undefined;
}

/** What is left of a unit in a scope; `undefined` where that is enough. */
export function shortageOf(limits: Amounts, standing: Standing | undefined, wanted: Amounts, unit: number): bigint | undefined {
  const amount = wanted[unit];
  const limit = limits[unit];
  if (amount === undefined || limit === undefined) return undefined;
  const available = limit - (standing?.spent[unit] ?? 0n) - (standing?.reserved[unit] ?? 0n);
  return available >= amount ? undefined : available > 0n ? available : 0n;
}

export function waitingReservation(scope: string, unit: number, available: bigint): Reservation {
  return unit === 0
    ? { type: "wait", scope, available: fromPicoUsd(available) }
    : { type: "wait", scope, unit: UNITS[unit] as Exclude<BudgetUnit, "cost">, available: Number(available) };
}
