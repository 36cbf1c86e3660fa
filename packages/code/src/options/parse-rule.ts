import type { PermissionBehavior, PermissionRule } from "@keelson/protocol";
import { UsageError } from "./usage-error.ts";

const TOOL_GLOB = /^[\w.*?:/-]+$/;

/** Reads a permission rule such as `read_file`, `mcp:*` or `bash(npm test*)`. */
export function parseRule(pattern: string, behavior: PermissionBehavior): PermissionRule {
  const text = pattern.trim();
  const open = text.indexOf("(");
  const tool = open === -1 ? text : text.slice(0, open);
  const closed = open === -1 || (text.endsWith(")") && text.length > open + 2);
  if (!TOOL_GLOB.test(tool) || !closed) {
    throw new UsageError(
      `--${behavior} ${JSON.stringify(pattern)} is no rule`,
      "A rule is a tool, or a tool with a pattern for its argument in parentheses: read_file, 'bash(npm test*)'. Quote it for the shell.",
    );
  }
  return { pattern: text, behavior };
}
