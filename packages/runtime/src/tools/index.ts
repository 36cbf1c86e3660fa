export { aliasTool } from "./alias-tool.ts";
export { type OutputBounds } from "./bound-output.ts";
export { createToolCall } from "./create-tool-call.ts";
export { defineTool } from "./define-tool.ts";
export {
  type Dispatch,
  type DispatchTool,
  type DispatchToolDefinition,
  dispatchInput,
  dispatchResult,
  isDispatchTool,
  operatorToTool,
} from "./dispatch-tool.ts";
export { type LeafOptions, type LeafResult, executeLeaf } from "./execute-leaf.ts";
export { type BatchOptions, planBatches } from "./plan-batches.ts";
export { type CallArguments, type PreparedCall, prepareCall } from "./prepare-call.ts";
export { type LeafClock } from "./run-leaf.ts";
export { DEFAULT_MAX_OUTPUT_BYTES, type LeafFields, type ToolDefinition, type ToolFields } from "./tool-definition.ts";
export { type FoundTool, type ToolRegistry, type ToolSet, createToolRegistry } from "./tool-registry.ts";
export { createToolPins } from "./tool-pins.ts";
export { untrustedByEffects } from "./untrusted-by-effects.ts";
export { toolToOperator } from "./tool-to-operator.ts";
export { isInexactInteger, jsonValue, parseJson, parseJsonc } from "../json/index.ts";
// What the types above are made of.
export { type JsonSchema, type Schema, type SelfDescribing, type StandardSchema } from "../schema/index.ts";
// What its signatures are made of, so that the protocol need not be installed beside this package.
export type {
  CallBatch,
  CallPlace,
  OpenToolSource,
  Operator,
  OperatorInput,
  OperatorOutput,
  PlannedCall,
  PlannedFiles,
  PlannedPrograms,
  Reconciliation,
  TextOrigin,
  Tool,
  ToolCall,
  ToolOutput,
  ToolPins,
  ToolSource,
  ToolSourcePlace,
} from "@keelson/protocol";
