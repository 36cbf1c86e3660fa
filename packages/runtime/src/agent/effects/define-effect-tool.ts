import { ToolError, type Effect, type JsonObject, type Tool, type ToolCall } from "@keelson/protocol";
import type { JsonSchema, Schema } from "../../schema/schema.ts";
import { defineTool } from "../../tools/define-tool.ts";
import type { ToolFields } from "../../tools/tool-definition.ts";

export interface EffectToolFields extends Omit<ToolFields, "effect"> {
  /** What the model is told beside the id. Default: that it will be carried out, not whether it was. */
  readonly accepted?: string;
}

export interface EffectToolDefinition<In> extends EffectToolFields {
  readonly input: Schema<In>;
  /** What a call with this input declares. Pure: it may be asked again after a crash. */
  effect(input: In, call: ToolCall): Effect;
}

export interface JsonEffectToolDefinition extends EffectToolFields {
  readonly input: JsonSchema;
  effect(input: JsonObject, call: ToolCall): Effect;
}

/**
 * A tool whose calls do nothing: each yields an effect into the log, for the layer above to carry out. The model is told that it
 * was accepted, and under which id. Permissions see it as what changes the world.
 *
 * ```ts
 * const remember = defineEffectTool({
 *   name: "remember",
 *   description: "Keep a fact for later sessions.",
 *   input: z.object({ fact: z.string() }),
 *   effect: ({ fact }) => ({ type: "write-memory", scope: { type: "global" }, key: "fact", value: fact }),
 * });
 * ```
 * @throws ToolError of kind `invalid-definition`, which names the option that is wrong
 */
export function defineEffectTool<In>(definition: EffectToolDefinition<In>): Tool<In>;
export function defineEffectTool(definition: JsonEffectToolDefinition): Tool<JsonObject>;
export function defineEffectTool(definition: EffectToolDefinition<unknown> | JsonEffectToolDefinition): Tool {
  const { effect, accepted = "Accepted: it will be carried out.", ...fields } = definition as EffectToolDefinition<unknown>;
  const { name } = fields;
  if (typeof effect !== "function")
    throw new ToolError({
      kind: "invalid-definition",
      tool: String(name),
      message: `Tool "${String(name)}": \`effect\` must be a function`,
    });
  return defineTool<unknown>({
    ...fields,
    // It runs again after a crash, and declares the same: only what comes of the effect changes anything.
    effect: "idempotent",
    execute(input, call) {
      if (call.declare === undefined) {
        const message = `The tool "${name}" declares an effect, and nobody here takes it: call it in a run`;
        throw new ToolError({ kind: "execution-failed", tool: name, message });
      }
      return `${accepted} (${call.declare(effect.call(definition, input, call))})`;
    },
  });
}
