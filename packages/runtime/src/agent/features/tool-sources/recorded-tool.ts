import type { Tool } from "@keelson/protocol";
import { compileSchema, type CompiledSchema } from "../../../schema/compile-schema.ts";
import type { OfferedTool } from "../../../session/offered-tool.ts";

/** Stands for a tool of a source as it was recorded: what requests are made of, and what calls are found by. The live one is what runs. */
export interface RecordedTool extends Tool {
  readonly recordedOf: { readonly source: string; readonly offered: OfferedTool };
}

export function recordedTool(source: string, offered: OfferedTool): RecordedTool {
  let schema: CompiledSchema<unknown> | undefined;
  const { needsApproval, ...fields } = offered;
  return {
    ...fields,
    // A rehearsal finds the recorded answer, or stops before it calls the function.
    ...(needsApproval !== undefined && { needsApproval: needsApproval === "always" ? true : () => true }),
    recordedOf: { source, offered },
    parse: (input) => (schema ??= compileSchema(offered.inputSchema)).validate(input),
    execute() {
      throw new TypeError(`"${offered.name}" is recorded only: the tool of the source "${source}" is what runs`);
    },
  };
}

export function isRecordedTool(tool: Tool): tool is RecordedTool {
  return "recordedOf" in tool;
}
