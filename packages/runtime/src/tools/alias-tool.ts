import type { Tool } from "@keelson/protocol";
import { checkToolName } from "./check-tool-fields.ts";

/**
 * The same tool under another name: description, schemas, version and every call are the inner tool's. Its aliases stay
 * with the inner tool, so that both can be in one registry.
 * @throws ToolError of kind `invalid-definition` when no vendor would take the name
 */
export function aliasTool<In>(newName: string, tool: Tool<In>): Tool<In> {
  checkToolName(newName, "name", newName);
  const { permissionText, effectsOf, reconcile } = tool;
  return {
    ...tool,
    name: newName,
    aliases: [],
    // Called on the inner tool, which may be an instance of a class: a copy of its fields has none of its methods.
    parse: (input) => tool.parse(input),
    execute: (input, call) => tool.execute(input, call),
    ...(permissionText !== undefined && { permissionText: (input: In) => permissionText.call(tool, input) }),
    ...(effectsOf !== undefined && { effectsOf: (input: In, where) => effectsOf.call(tool, input, where) }),
    ...(reconcile !== undefined && { reconcile: (input: In, call) => reconcile.call(tool, input, call) }),
  };
}
