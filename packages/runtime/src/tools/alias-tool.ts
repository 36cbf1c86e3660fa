import type { Tool } from "@keelson/protocol";
import { checkToolName } from "./check-tool-fields.ts";
import { bindApproval } from "./bind-approval.ts";

/**
 * The same tool under another name: description, schemas, version and every call are the inner tool's. Its aliases stay
 * with the inner tool, so that both can be in one registry.
 * @throws ToolError of kind `invalid-definition` when no vendor would take the name
 */
export function aliasTool<In, Context>(newName: string, tool: Tool<In, Context>): Tool<In, Context> {
  checkToolName(newName, "name", newName);
  const { permissionText, effectsOf, untrusted, needsApproval, reconcile } = tool;
  return {
    ...tool,
    name: newName,
    aliases: [],
    // Bound to the inner tool, which may be an instance of a class: a copy of its fields has none of its methods.
    parse: tool.parse.bind(tool),
    execute: tool.execute.bind(tool),
    ...(permissionText !== undefined && { permissionText: permissionText.bind(tool) }),
    ...(effectsOf !== undefined && { effectsOf: effectsOf.bind(tool) }),
    ...(untrusted !== undefined && { untrusted: untrusted.bind(tool) }),
    ...(needsApproval !== undefined && { needsApproval: bindApproval(tool, needsApproval) }),
    ...(reconcile !== undefined && { reconcile: reconcile.bind(tool) }),
  };
}
