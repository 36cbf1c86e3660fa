import type { JsonValue } from "@keelson/protocol";
import { TOOL_ALIASES, type ToolAlias } from "./tool-aliases.ts";

let byName: ReadonlyMap<string, readonly ToolAlias[]> | undefined;

/** Returns the rows of the table for a name, in any case: what other coding agents mean by it. Empty if no agent has a tool of that name. */
export function aliasesOf(name: string): readonly ToolAlias[] {
  byName ??= Map.groupBy(TOOL_ALIASES, (alias) => alias.name.toLowerCase());
  return byName.get(name.toLowerCase()) ?? NONE;
}
const NONE: readonly ToolAlias[] = [];

/**
 * Returns the tool that a model means by a name that no tool here has: one of our name for it, or one that has another name for the same.
 * @param input the arguments of the call, if they are known: they distinguish the meanings of one name
 */
export function toolByAlias<T extends { readonly name: string }>(tools: readonly T[], name: string, input?: JsonValue): T | undefined {
  const aliases = aliasesOf(name);
  const meant = aliases.length === 0 ? name : aliases.find((alias) => !alias.isNameOnly && fits(alias, input))?.tool;
  if (meant === undefined) return undefined;
  const own = tools.find((tool) => tool.name === meant);
  if (own !== undefined) return own;
  const same = tools.filter((tool) => aliasesOf(tool.name).some((alias) => alias.tool === meant && !alias.fixed && !alias.isNameOnly));
  return same.length === 1 ? same[0] : undefined;
}

function fits({ fixed = {} }: ToolAlias, input: JsonValue | undefined): boolean {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return true;
  const given = input as { readonly [member: string]: JsonValue | undefined };
  return Object.entries(fixed).every(([member, value]) => given[member] === undefined || given[member] === value);
}

/**
 * Returns the name that another agent has for a tool of ours, if a regular expression is about that name. Only names with a capital letter count, such as
 * `Bash`: an expression like `re.*` is about our tools.
 */
export function matchedAlias(tool: string, isMeant: (name: string) => boolean): ToolAlias | undefined {
  return TOOL_ALIASES.find((alias) => alias.tool === tool && /^[A-Z]/.test(alias.name) && isMeant(alias.name));
}
