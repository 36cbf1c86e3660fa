import { invalidOption } from "../invalid-option.ts";
import { normalizePath } from "./path-pattern.ts";
import type { CompiledRule } from "./permission-rule.ts";

/**
 * Refuses a rule about files whose pattern no path can match: paths are held against rules without `.`, `..`, and slashes at their ends.
 * @throws AgentError of kind `invalid-option` that suggests the right rule
 */
export function checkRulePath({ rule: { pattern }, tool, binds }: CompiledRule, option: string): void {
  if (tool.literals.length > 1 || (binds?.reads !== true && binds?.writes !== true)) return;
  const argument = pattern.slice(pattern.indexOf("(") + 1, -1);
  // Arguments as JSON are no path.
  if (argument.startsWith("{") || isPossible(argument)) return;
  const meant = meantPath(argument);
  throw invalidOption(
    option,
    `has the pattern ${JSON.stringify(pattern)}, which no call can match: paths are held against rules without ".", ".." and empty parts. ${meant === undefined ? 'Write the path as it is without ".."' : `Did you mean ${JSON.stringify(`${tool.literals[0]}(${meant})`)}`}`,
  );
}

/** A pattern for what lies above the workspace may begin with `..`: it is how such a path is shown where the workspace is not known. */
function isPossible(argument: string): boolean {
  if (argument === "." || argument === "/") return true;
  const parts = (argument.startsWith("./") ? argument.slice(2) : argument).split("/");
  return parts.every((part, index) => {
    if (part === "") return index === 0 && parts.length > 1;
    if (part === "..") return parts.slice(0, index).every((before) => before === "..");
    return part !== ".";
  });
}

function meantPath(argument: string): string | undefined {
  const above = argument.split("/").lastIndexOf("..");
  if (
    argument
      .split("/")
      .slice(0, Math.max(above, 0))
      .some((part) => part.includes("*"))
  )
    return undefined;
  const path = normalizePath(argument);
  if (!argument.endsWith("/")) return path;
  return path === "." ? "**" : `${path === "/" ? "" : path}/**`;
}
