import { InvalidArgumentError } from "commander";
import { type RunStatus, type Usd, compareUsd, usd, ZERO_USD } from "@keelson/protocol";
import { UsageError } from "./usage-error.ts";

/** `provider/id`. @throws InvalidArgumentError, to which Commander adds the option's name */
export function modelName(text: string): string {
  if (!/^[\w.-]+\/\S+$/.test(text)) throw new InvalidArgumentError('Write provider/id, as in "anthropic/claude-sonnet-4-5".');
  return text;
}

/** A whole number from 1. @throws UsageError naming the option */
export function positiveInteger(text: string, option: string): number {
  const value = wholeNumber(text, option);
  if (value < 1) throw new UsageError(`${option} must be at least 1, not ${text}`);
  return value;
}

/** A whole number from 0. @throws UsageError naming the option */
export function wholeNumber(text: string, option: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new UsageError(`${option} must be a whole number, not ${JSON.stringify(text)}`);
  return value;
}

export const RUN_STATES: readonly RunStatus[] = ["working", "suspended", "ended"];

/** @throws UsageError naming the option */
export function runStatus(text: string, option: string): RunStatus {
  const status = RUN_STATES.find((known) => known === text);
  if (status === undefined) throw new UsageError(`${option} must be one of ${RUN_STATES.join(", ")}, not ${JSON.stringify(text)}`);
  return status;
}

/** More than no dollars. @throws UsageError naming the option */
export function amount(text: string, option: string): Usd {
  try {
    const value = usd(text);
    if (compareUsd(value, ZERO_USD) > 0) return value;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new UsageError(`${option} ${JSON.stringify(text)} is no amount`, "Write dollars as a decimal, such as 0.50 or 5.");
}
