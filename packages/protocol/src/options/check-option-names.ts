import { AgentError } from "../errors/agent-error.ts";
import { nearestName } from "./nearest-name.ts";
import { isOptionRule } from "./option-rules.ts";
import { peerOption } from "./peer-option.ts";

/** A line for each option of `Options`, `true` or an {@link OptionRule}: one that is added does not compile without it. */
export type OptionNames<Options> = { readonly [Name in keyof Required<Options>]: unknown };

/**
 * A misspelt option would be one that has no effect. One that is `undefined` counts as left out.
 * @param of whose options they are, as in "createRunner"
 * @throws AgentError of kind `invalid-option` that names it, and the option that was probably meant or the values that it may have
 */
export function checkOptionNames<Options extends object>(of: string, options: Options, names: OptionNames<Options>): void {
  if (!isOptionsObject(options))
    throw new AgentError({ kind: "invalid-option", option: "options", message: `${of} takes an object of options, not ${told(options)}.` });
  for (const name of Object.keys(options)) {
    const value = options[name as keyof Options];
    if (value === undefined) continue;
    if (!Object.hasOwn(names, name)) throw unknownOption(of, name, Object.keys(names));
    const rule = names[name as keyof Options];
    if (rule !== true && isOptionRule(rule) && !rule.accepts(value))
      throw new AgentError({
        kind: "invalid-option",
        option: name,
        message: `The option "${name}" of ${of} must be ${rule.expected}, not ${told(value)}.`,
      });
  }
}

function unknownOption(of: string, name: string, names: readonly string[]): AgentError {
  return new AgentError({ kind: "invalid-option", option: name, message: `${of} has no option "${name}": ${optionHint(name, names)}` });
}

/** The option that was probably meant, by its name here or in another library; `undefined` if none is like it. */
export function meantOption(name: string, names: readonly string[]): string | undefined {
  return peerOption(name, names) ?? nearestName(name, names);
}

function optionHint(name: string, names: readonly string[]): string {
  const meant = meantOption(name, names);
  if (meant !== undefined) return `did you mean "${meant}"?`;
  return names.length === 0 ? "it has none" : `there are ${names.join(", ")}`;
}

/** False for a signal, a promise, a list or a map: objects that would be taken for options without a single one. */
function isOptionsObject(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || tagOf(value) === "Object" || tagOf(value) === "Module";
}

function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

function told(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  return OBJECTS_BY_TAG[tagOf(value)] ?? `an object of type ${tagOf(value)}`;
}

const OBJECTS_BY_TAG: { readonly [tag: string]: string | undefined } = {
  Array: "a list",
  AbortSignal: "an AbortSignal: write it as { signal }",
  Promise: "a promise: await it first",
};
