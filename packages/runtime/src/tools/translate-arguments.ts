import { resolve } from "node:path";
import type { JsonObject, JsonValue, Tool } from "@keelson/protocol";
import { markCopy } from "../json/index.ts";
import { aliasesOf } from "./find-alias.ts";
import { ARGUMENT_ALIASES, TOOL_ALIASES, type ToolAlias } from "./tool-aliases.ts";

/**
 * Returns arguments under the names that the schema of a tool has for them, if a model wrote those of another coding agent. Members that the schema knows
 * stay as they are. @returns the same object if there is nothing to translate
 */
export function translateArguments({ name, inputSchema }: Pick<Tool, "name" | "inputSchema">, input: JsonObject): JsonObject {
  const tool = Object.hasOwn(ARGUMENT_ALIASES, name) ? name : aliasesOf(name)[0]?.tool;
  const { properties, additionalProperties } = inputSchema as {
    readonly properties?: JsonObject;
    readonly additionalProperties?: JsonValue;
  };
  // A schema with additional properties has a meaning for every member.
  if (tool === undefined || properties === undefined || (additionalProperties !== undefined && additionalProperties !== false))
    return input;
  const rows = TOOL_ALIASES.filter((alias) => alias.tool === tool);
  const translated: { [member: string]: JsonValue | undefined } = {};
  let changes = 0;
  for (const [member, value] of Object.entries(input)) {
    const plain = Object.hasOwn(properties, member) ? { [member]: plainCommand(tool, member, value) } : undefined;
    const found =
      plain ?? translateMember({ tool, rows, member, value }, (here) => Object.hasOwn(properties, here) && !Object.hasOwn(input, here));
    for (const [here, given] of Object.entries(found ?? { [member]: value })) translated[here] ??= given;
    if (found !== undefined && found[member] !== value) changes++;
  }
  return changes === 0 ? input : markCopy(translated, input);
}

interface Member {
  readonly tool: string;
  readonly rows: readonly ToolAlias[];
  readonly member: string;
  readonly value: JsonValue | undefined;
}

/** @returns `undefined` for a member that no other agent has; nothing in place of one that changes nothing */
function translateMember({ tool, rows, member, value }: Member, isFree: (here: string) => boolean): JsonObject | undefined {
  if (member === "view_range" && Array.isArray(value) && isFree("offset") && isFree("limit")) return linesOf(value);
  const names = Object.entries(ARGUMENT_ALIASES[tool] ?? {}).flatMap(([here, there]) => (there.includes(member) ? [here] : []));
  const own = rows.flatMap((alias) => Object.entries(alias.arguments ?? {}).flatMap(([here, there]) => (there === member ? [here] : [])));
  const here = [...names, ...own].find(isFree);
  if (here !== undefined) return { [here]: plainCommand(tool, here, CONVERSIONS[here]?.in(member, value) ?? value) };
  const isIgnored = rows.some(
    ({ fixed = {}, ignored = [] }) => ignored.includes(member) || (value !== undefined && fixed[member] === value),
  );
  return isIgnored ? {} : undefined;
}

/** `[3, 9]` are the lines 3 to 9, and `[3, -1]` all from 3 on. */
function linesOf([first, last]: readonly JsonValue[]): JsonObject {
  if (typeof first !== "number" || typeof last !== "number") return {};
  return { offset: first, ...(last >= first && { limit: last - first + 1 }) };
}

/** `["bash", "-lc", "ls"]` is the command line `ls`. */
function plainCommand(tool: string, member: string, value: JsonValue | undefined): JsonValue | undefined {
  if (tool !== "bash" || member !== "command" || !Array.isArray(value) || value.length !== 3) return value;
  const [shell, option, line] = value as readonly JsonValue[];
  return /^(?:\/bin\/)?(?:ba|z)?sh$/.test(String(shell)) && /^-l?c$/.test(String(option)) && typeof line === "string" ? line : value;
}

interface Conversion {
  in(there: string, value: JsonValue | undefined): JsonValue | undefined;
  out(there: string, value: JsonValue | undefined): JsonValue | undefined;
}

/** Arguments whose values are others there. */
const CONVERSIONS: { readonly [here: string]: Conversion } = {
  timeout_seconds: {
    in: (there, value) => (there === "timeout" && typeof value === "number" ? Math.max(1, Math.ceil(value / 1000)) : value),
    out: (there, value) => (there === "timeout" && typeof value === "number" ? value * 1000 : value),
  },
  mode: {
    in: (_there, value) => (value === "files_with_matches" ? "files" : value),
    out: (_there, value) => (value === "files" ? "files_with_matches" : value),
  },
};

/** Returns the arguments of a call as the author of an alias expects them. Paths of files are absolute there. */
export function argumentsThere({ arguments: names = {}, fixed }: ToolAlias, input: JsonObject, cwd: string | undefined): JsonObject {
  const members = Object.entries(input).map(([here, value]): [string, JsonValue | undefined] => {
    const there = names[here] ?? here;
    const isPath = here === "path" && typeof value === "string" && cwd !== undefined;
    return [there, isPath ? resolve(cwd, value) : (CONVERSIONS[here]?.out(there, value) ?? value)];
  });
  return { ...fixed, ...Object.fromEntries(members) };
}
