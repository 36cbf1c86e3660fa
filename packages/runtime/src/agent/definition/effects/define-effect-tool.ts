import { ToolError, type Effect, type JsonObject, type Tool, type ToolCall } from "@keelson/protocol";
import type { JsonSchema, Schema } from "../../../schema/schema.ts";
import { defineTool } from "../../../tools/define-tool.ts";
import type { ToolDefinition, ToolFields } from "../../../tools/tool-definition.ts";
import { checkDefinitionNames } from "../../../json/check-definition-names.ts";
import type { OptionNames } from "../../../json/option-names.ts";

export interface EffectToolFields extends Omit<ToolFields, "effect"> {
  /** What the model is told beside the id. Default: that it will be carried out, not whether it was. */
  readonly accepted?: string | undefined;
}

/** `In` follows from `input`; beside a plain JSON Schema it is what the author annotates, else an object of JSON. */
export interface EffectToolDefinition<In = JsonObject> extends EffectToolFields {
  readonly input: Schema<In> | JsonSchema;
  /** True, or a function that returns true, if a person must allow a call before it declares its effect. */
  needsApproval?: ToolDefinition<In>["needsApproval"];
  /** What a call with this input declares. Pure: it may be asked again after a crash. */
  effect(input: In, call: ToolCall): Effect;
}

const EFFECT_TOOL_OPTIONS: OptionNames<EffectToolDefinition> = {
  name: true,
  description: true,
  concurrency: true,
  risk: true,
  version: true,
  aliases: true,
  maxOutputBytes: true,
  category: true,
  accepted: true,
  needsApproval: true,
  input: true,
  effect: true,
};

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
export function defineEffectTool<In = JsonObject>(definition: EffectToolDefinition<In>): Tool<NoInfer<In>> {
  checkDefinitionNames<EffectToolDefinition<In>>("defineEffectTool", definition, EFFECT_TOOL_OPTIONS);
  const { effect, accepted = "Accepted: it will be carried out.", ...fields } = definition;
  const { name } = fields;
  if (typeof effect !== "function")
    throw new ToolError({
      kind: "invalid-definition",
      tool: String(name),
      message: `Tool "${String(name)}": \`effect\` must be a function`,
    });
  return defineTool<In>({
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
