export { aliasTool } from "./alias-tool.ts";
export { defineTool } from "./define-tool.ts";
export { type BatchOptions, planBatches } from "./plan-batches.ts";
export { DEFAULT_MAX_OUTPUT_BYTES, type JsonToolDefinition, type LeafFields, type ToolDefinition, type ToolFields } from "./tool-definition.ts";
export { type FoundTool, type ToolRegistry, type ToolSet, createToolRegistry } from "./tool-registry.ts";
