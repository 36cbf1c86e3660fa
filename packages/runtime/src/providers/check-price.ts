import { AgentError } from "@keelson/protocol";
import { shownValue } from "../json/shown-value.ts";
import { checkOptionNames, type OptionNames } from "../json/option-names.ts";
import type { ModelPrice, PriceTable, TokenPrices } from "./model-price.ts";

const TOKEN_PRICES: OptionNames<TokenPrices> = { input: true, output: true, cacheRead: true, cacheWrite: true };
const MODEL_PRICE: OptionNames<ModelPrice> = { ...TOKEN_PRICES, vendor: true, asOf: true, batch: true, longPrompt: true };
const LONG_PROMPT = { ...TOKEN_PRICES, aboveInputTokens: true };
const AMOUNT = /^(?:\d+(?:\.\d*)?|\.\d+)$/;
/** Prices that were checked: a run asks for the cost of each response. */
const checked = new WeakSet<object>();

/** @throws AgentError of kind `invalid-option` that names the price of a table that cannot be used */
export function checkPrices(option: string, prices: PriceTable): void {
  checkOptionNames(option, prices, prices);
  for (const [model, price] of Object.entries(prices))
    if (price !== null && price !== undefined) checkPrice(`${option}["${model}"]`, price);
}

/** @throws AgentError of kind `invalid-option` that names the member that is wrong */
export function checkPrice(of: string, price: ModelPrice): void {
  if (typeof price === "object" && price !== null && checked.has(price)) return;
  checkOptionNames(of, price, MODEL_PRICE);
  checkAmounts(of, price);
  if (price.batch !== undefined) checkAmount(`${of}.batch`, price.batch);
  if (price.longPrompt !== undefined) {
    checkOptionNames(`${of}.longPrompt`, price.longPrompt, LONG_PROMPT);
    checkAmounts(`${of}.longPrompt`, price.longPrompt);
    const { aboveInputTokens } = price.longPrompt;
    if (!(Number.isFinite(aboveInputTokens) && aboveInputTokens >= 0))
      throw invalid(`${of}.longPrompt.aboveInputTokens`, "a number of tokens from 0", aboveInputTokens);
  }
  checked.add(price);
}

function checkAmounts(of: string, { input, output, cacheRead, cacheWrite }: TokenPrices): void {
  checkAmount(`${of}.input`, input);
  checkAmount(`${of}.output`, output);
  if (cacheRead !== undefined) checkAmount(`${of}.cacheRead`, cacheRead);
  if (cacheWrite !== undefined) checkAmount(`${of}.cacheWrite`, cacheWrite);
}

function checkAmount(option: string, amount: unknown): void {
  if (typeof amount === "string" && AMOUNT.test(amount)) return;
  throw invalid(option, `US dollars per million tokens as a decimal string, such as "0.25"`, amount);
}

function invalid(option: string, expected: string, value: unknown): AgentError {
  return new AgentError({ kind: "invalid-option", option, message: `${option} must be ${expected}, not ${shownValue(value)}.` });
}
