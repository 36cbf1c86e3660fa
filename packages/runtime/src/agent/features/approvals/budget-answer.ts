import { compareUsd, usd, ZERO_USD, type AskedBudget, type Decision, type JsonObject, type JsonValue, type Usd } from "@keelson/protocol";

/** The decisions that answer the question of a run whose limit is met. */
const ANSWERS: readonly Decision["type"][] = ["allow", "deny", "allow-modified", "abort"];

/** An amount that is added to a limit. */
export type BudgetRaise = { readonly usd: Usd } | { readonly tokens: number };

/** Returns the amount that an answer adds, or what is wrong with it. */
export function readRaise({ unit }: Pick<AskedBudget, "unit">, input: JsonValue): BudgetRaise | string {
  const name = unit === "cost" ? "usd" : "tokens";
  const example = unit === "cost" ? '{ "usd": "2.50" }' : '{ "tokens": 50000 }';
  const remedy = `Write the amount that is added to the limit, as in ${example}.`;
  if (typeof input !== "object" || input === null || Array.isArray(input) || !Object.hasOwn(input, name))
    return `It has no "${name}". ${remedy}`;
  const others = Object.keys(input).filter((member) => member !== name);
  if (others.length > 0) return `It has ${others.map((member) => JSON.stringify(member)).join(", ")} beside "${name}". ${remedy}`;
  const given = (input as JsonObject)[name] ?? null;
  if (name === "tokens")
    return Number.isSafeInteger(given) && (given as number) > 0
      ? { tokens: given as number }
      : `"tokens" must be a whole number above 0, not ${JSON.stringify(given)}. ${remedy}`;
  const amount = typeof given === "string" || typeof given === "number" ? amountOf(given) : undefined;
  return amount === undefined ? `"usd" must be an amount in US dollars above 0, not ${JSON.stringify(given)}. ${remedy}` : { usd: amount };
}

function amountOf(given: string | number): Usd | undefined {
  try {
    const amount = usd(given);
    return compareUsd(amount, ZERO_USD) > 0 ? amount : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Returns why a decision does not answer the question of a run whose limit is met; `undefined` if it does. */
export function issueOfBudgetAnswer(budget: AskedBudget, decision: Decision): string | undefined {
  if (!ANSWERS.includes(decision.type)) return `Decide one of ${ANSWERS.join(", ")}.`;
  const raise = decision.type === "allow-modified" ? readRaise(budget, decision.input) : undefined;
  return typeof raise === "string" ? raise : undefined;
}
