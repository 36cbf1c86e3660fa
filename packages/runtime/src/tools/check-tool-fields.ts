import { RISK_LEVELS, ToolError } from "@keelson/protocol";
import type { ToolFields } from "./tool-definition.ts";

/** What every vendor accepts as the name of a tool. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** @throws ToolError of kind `invalid-definition` at the first option that is wrong: callers without types get here too */
export function checkToolFields(fields: ToolFields): void {
  const { name, description, effect, concurrency, risk, version, aliases, maxOutputBytes, category } = fields;
  checkToolName(name, "name", name);
  if (typeof description !== "string") throw invalid(name, "`description` must be a text: the model chooses by it");
  checkOption(name, "effect", effect, ["read", "idempotent", "write"]);
  checkOption(name, "concurrency", concurrency, ["shared", "exclusive"]);
  checkOption(name, "risk", risk, RISK_LEVELS);
  checkOption(name, "category", category, ["edit", "shell"]);
  if (version !== undefined && (typeof version !== "string" || version === ""))
    throw invalid(name, "`version` must be a text that is not empty");
  if (maxOutputBytes !== undefined && !(Number.isInteger(maxOutputBytes) && maxOutputBytes > 0))
    throw invalid(name, `\`maxOutputBytes\` must be a whole number over 0, not ${String(maxOutputBytes)}`);
  if (aliases === undefined) return;
  if (!Array.isArray(aliases)) throw invalid(name, "`aliases` must be a list of names");
  for (const alias of aliases as readonly string[]) checkToolName(name, "aliases", alias);
}

export function checkToolName(tool: string, option: string, name: string): void {
  if (typeof name === "string" && NAME.test(name)) return;
  throw invalid(tool, `\`${option}\` must hold 1 to 64 letters, digits, "_" and "-", not ${JSON.stringify(name)}`);
}

function checkOption(tool: string, option: string, value: unknown, allowed: readonly unknown[]): void {
  if (value === undefined || allowed.includes(value)) return;
  throw invalid(
    tool,
    `\`${option}\` must be one of ${allowed.map((choice) => JSON.stringify(choice)).join(", ")}, not ${JSON.stringify(value)}`,
  );
}

function invalid(tool: unknown, problem: string): ToolError {
  return new ToolError({ kind: "invalid-definition", tool: String(tool), message: `Tool ${JSON.stringify(tool)}: ${problem}` });
}
