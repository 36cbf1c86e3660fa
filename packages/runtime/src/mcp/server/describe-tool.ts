import type { JsonObject, Tool } from "@keelson/protocol";

/** A tool as it is listed. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: { readonly type: "object" } & JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations: ToolHints;
}

interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint?: boolean;
}

export function describeTool(tool: Tool): ListedTool {
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: { ...dialectOf(tool.inputSchema), ...tool.inputSchema, type: "object" },
    ...(tool.outputSchema !== undefined && { outputSchema: tool.outputSchema }),
    annotations: toolHints(tool),
  };
}

/** The keywords that only some dialects know, or that mean another thing in others. */
const OF_A_DIALECT = [
  "$defs",
  "$anchor",
  "$dynamicRef",
  "dependentRequired",
  "dependentSchemas",
  "if",
  "prefixItems",
  "unevaluatedProperties",
];

/** The dialect that all schemas are held to here, told where it matters. */
function dialectOf(schema: JsonObject): JsonObject {
  return OF_A_DIALECT.some((keyword) => Object.hasOwn(schema, keyword)) ? { $schema: "https://json-schema.org/draft/2020-12/schema" } : {};
}

/**
 * What a client may expect of a call, for the questions that it asks its user. A write destroys nothing where its risk is none or low: that is what
 * these say of it.
 */
export function toolHints({ effect, risk, untrusted }: Pick<Tool, "effect" | "risk" | "untrusted">): ToolHints {
  const reads = effect === "read";
  return {
    readOnlyHint: reads,
    destructiveHint: !reads && risk !== "none" && risk !== "low",
    idempotentHint: effect !== "write",
    // Text that nobody vouches for comes from outside of it.
    ...(untrusted !== undefined && { openWorldHint: true }),
  };
}
