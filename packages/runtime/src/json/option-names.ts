import { AgentError } from "@keelson/protocol";
import { nearestName } from "./nearest-name.ts";

/** A line for each option of `Options`: one that is added does not compile without it. */
export type OptionNames<Options> = { readonly [Name in keyof Required<Options>]: unknown };

/**
 * A misspelt option would be one that has no effect. One that is `undefined` counts as left out.
 * @param of whose options they are, as in "createRunner"
 * @throws AgentError of kind `invalid-option` that names it, and the option that was probably meant
 */
export function checkOptionNames<Options extends object>(of: string, options: Options, names: OptionNames<Options>): void {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new AgentError({ kind: "invalid-option", option: "options", message: `${of} takes an object of options, not ${told(options)}.` });
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(names, name)) continue;
    const near = nearestName(name, Object.keys(names));
    const hint = near === undefined ? `there are ${Object.keys(names).join(", ")}` : `did you mean "${near}"?`;
    throw new AgentError({ kind: "invalid-option", option: name, message: `${of} has no option "${name}": ${hint}` });
  }
}

function told(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : Array.isArray(value) ? "a list" : String(value);
}
