import { AgentError } from "@keelson/protocol";

// As that of agents, which is not imported: the file that `keelson` loads at once would be cut into more pieces.

/** @param problem what is wrong with it and what to write instead, to be read after its name */
export function invalidOption(option: string, problem: string): AgentError {
  return new AgentError({ kind: "invalid-option", option, message: `${option} ${problem}.` });
}

/** A value as a message shows it, whatever it is. */
export function shown(value: unknown): string {
  if (typeof value !== "object" || value === null) return typeof value === "string" ? JSON.stringify(value) : String(value);
  const name = (value as { readonly name?: unknown }).name;
  return typeof name === "string" ? `the object ${JSON.stringify(name)}` : Array.isArray(value) ? "a list" : "an object";
}
