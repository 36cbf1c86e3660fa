/** The values that an option may have, in place of `true` in a table of names. */
export interface OptionRule {
  accepts(value: unknown): boolean;
  /** To be read after "must be". */
  readonly expected: string;
}

/** A text such as "false" would count as true. */
export const FLAG_OPTION: OptionRule = { accepts: (value) => typeof value === "boolean", expected: "true or false" };

/** `NaN` would be no bound. */
export const BOUND_OPTION: OptionRule = { accepts: (value) => typeof value === "number" && value >= 0, expected: "a number from 0" };

export const POSITIVE_OPTION: OptionRule = { accepts: (value) => typeof value === "number" && value > 0, expected: "a number above 0" };

export const FUNCTION_OPTION: OptionRule = { accepts: (value) => typeof value === "function", expected: "a function" };

export function isOptionRule(value: unknown): value is OptionRule {
  return typeof value === "object" && value !== null && "accepts" in value && "expected" in value;
}
