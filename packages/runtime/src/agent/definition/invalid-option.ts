import { AgentError } from "@keelson/protocol";

/** @param problem what is wrong with it and what to write instead, to be read after its name */
export function invalidOption(option: string, problem: string, cause?: unknown): AgentError {
  return new AgentError({ kind: "invalid-option", option, message: `${option} ${problem}.` }, cause === undefined ? {} : { cause });
}

/** A value as a message shows it, whatever it is. */
export function shown(value: unknown): string {
  if (typeof value === "function") return `the function ${value.name || "that has no name"}`;
  return (typeof value === "symbol" ? undefined : safeJson(value)) ?? String(value);
}

function safeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** @throws AgentError of kind `invalid-option` for what is no object, or has a member that is none of these */
export function checkMembers(option: string, value: unknown, members: readonly string[], example: string): void {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidOption(option, `must be an object such as ${example}, not ${shown(value)}`);
  for (const [name, member] of Object.entries(value))
    if (member !== undefined && !members.includes(name))
      throw invalidOption(`${option}.${name}`, `is no option there: there are ${members.join(", ")}; did you mean another of them`);
}
