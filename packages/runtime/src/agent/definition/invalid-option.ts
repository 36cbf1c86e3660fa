import { AgentError } from "@keelson/protocol";
import { meantOption } from "../../json/option-names.ts";
import { shownValue as shown } from "../../json/shown-value.ts";

export { shownValue as shown } from "../../json/shown-value.ts";

/** @param problem what is wrong with it and what to write instead, to be read after its name */
export function invalidOption(option: string, problem: string, cause?: unknown): AgentError {
  return new AgentError({ kind: "invalid-option", option, message: `${option} ${problem}.` }, cause === undefined ? {} : { cause });
}

/** @throws AgentError of kind `invalid-option` for what is no object, or has a member that is none of these */
export function checkMembers(option: string, value: unknown, members: readonly string[], example: string): void {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidOption(option, `must be an object such as ${example}, not ${shown(value)}`);
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined || members.includes(name)) continue;
    const meant = meantOption(name, members);
    const hint = meant === undefined ? `there are ${members.join(", ")}; did you mean another of them` : `did you mean "${meant}"`;
    throw invalidOption(`${option}.${name}`, `is no option there: ${hint}`);
  }
}
