import type { InferRequest, JsonObject, JsonValue, Tool, ToolSchema, ValidationResult } from "@keelson/protocol";
import { compileSchema } from "../../../schema/compile-schema.ts";
import type { JsonSchema, Schema } from "../../../schema/schema.ts";
import { defineTool } from "../../../tools/define-tool.ts";
import { OUTPUT_MEMBER, outputSchema, unwrapOutput } from "./output-schema.ts";
import type { CustomOutputMode, OutputModeOption } from "./output-mode.ts";

/** How an agent's structured output is asked for and held against its schema: compiled once for a definition. */
export interface OutputForm {
  readonly mode: "tool" | "native" | "prompt" | "custom";
  /** JSON Schema of the output. */
  readonly schema: JsonObject;
  /** Whether the model puts the output into a member of an object. */
  readonly wrapped: boolean;
  /** Its input is the output, and it has been checked once it is prepared. It is never executed. */
  readonly tool: Tool | undefined;
  /** What the request says, where the vendor holds the response to the schema. */
  readonly output: InferRequest["output"];
  /** What the system prompt says. */
  readonly instructions: string | undefined;
  readonly extract: CustomOutputMode["extract"] | undefined;
  /** Holds the output, out of its wrapping, against the schema. */
  validate(value: unknown): Promise<ValidationResult<unknown>>;
  /** The tools that a request offers. */
  offer(schemas: readonly ToolSchema[]): readonly ToolSchema[];
}

export const DEFAULT_OUTPUT_TOOL = "final_answer";
const OUTPUT_TOOL_DESCRIPTION =
  "Gives your final answer and ends the work. Call it once everything else is done, by itself: only what you give here is your answer, text beside it is not.";

/** @throws TypeError when the schema is none that can be used */
export function compileOutputForm(agent: string, output: Schema<unknown> | JsonSchema, option: OutputModeOption = "tool"): OutputForm {
  const compiled = compileSchema(output);
  const mode = typeof option === "string" ? option : option.type;
  const asked = mode === "custom" ? { schema: compiled.jsonSchema, wrapped: false } : outputSchema(compiled.jsonSchema);
  const tool = mode === "tool" ? outputTool(asked.schema, asked.wrapped, compiled.validate, option) : undefined;
  return {
    mode,
    schema: compiled.jsonSchema,
    wrapped: asked.wrapped,
    tool,
    output: mode === "native" ? { name: agent.replace(/[^\w-]/g, "_"), schema: asked.schema } : undefined,
    instructions: mode === "prompt" ? instructionsFor(asked.schema) : undefined,
    extract: typeof option === "object" && option.type === "custom" ? (text, context) => option.extract(text, context) : undefined,
    validate: compiled.validate,
    offer(schemas) {
      if (tool === undefined) return schemas;
      const { name, description, inputSchema } = tool;
      return [...schemas, { name, description, inputSchema }];
    },
  };
}

function outputTool(schema: JsonObject, wrapped: boolean, validate: OutputForm["validate"], option: OutputModeOption): Tool {
  const { name = DEFAULT_OUTPUT_TOOL, description = OUTPUT_TOOL_DESCRIPTION } =
    typeof option === "object" && option.type === "tool" ? option : {};
  const tool = defineTool({ name, description, input: schema as JsonSchema, effect: "read", execute: () => null });
  return {
    ...tool,
    async parse(input) {
      if (!wrapped) return validate(input);
      const given = input as JsonObject;
      if (!Object.hasOwn(given, OUTPUT_MEMBER)) return { issues: [{ message: "is missing", path: [OUTPUT_MEMBER] }] };
      const result = await validate(unwrapOutput(given as JsonValue, true));
      return withinMember(result);
    },
  };
}

function withinMember(result: ValidationResult<unknown>): ValidationResult<unknown> {
  if (result.issues === undefined) return result;
  return { issues: result.issues.map(({ message, path = [] }) => ({ message, path: [OUTPUT_MEMBER, ...path] })) };
}

function instructionsFor(schema: JsonObject): string {
  return `When you give your final answer, give one JSON value that matches this JSON Schema, and nothing else: no words before or after it.\n${JSON.stringify(schema)}`;
}
