import type { ModelInfo } from "@keelson/protocol";
import { modelInfo } from "../model-list.ts";
import { type Fields, fieldsOf, stringOf } from "../wire-decoder.ts";

/** Vendors tell of their models what they like, under names of their own; what none tells is taken to be so for a chat model. */
export function compatibleModelInfo(model: Fields): ModelInfo {
  const told = fieldsOf(model["capabilities"]) ?? {};
  const architecture = fieldsOf(model["architecture"]);
  const inputs = listOf(architecture?.["input_modalities"] ?? model["input_modalities"]);
  const parameters = Array.isArray(model["supported_parameters"]) ? listOf(model["supported_parameters"]) : undefined;
  const kind = `${stringOf(model["type"])} ${stringOf(model["task"])} ${stringOf(model["id"])}`;
  const chats = told["completion_chat"] !== false && !/embed|rerank|whisper|tts|transcri|moderation|image-gen|diffusion/i.test(kind);
  const reasons = parameters?.includes("reasoning") === true || told["reasoning"] === true || told["thinking"] === true;
  const top = fieldsOf(model["top_provider"]);
  const base = modelInfo(
    { ...model, display_name: stringOf(model["display_name"]) || stringOf(model["name"]) },
    {
      toolCalling: chats && (parameters?.includes("tools") ?? told["function_calling"] !== false),
      vision: told["vision"] === true || inputs.includes("image"),
      streaming: chats,
      structuredOutput:
        chats && (parameters === undefined || parameters.includes("response_format") || parameters.includes("structured_outputs")),
      effortLevels: reasons,
    },
    reasons ? ["low", "medium", "high"] : [],
  );
  return {
    ...base,
    contextWindow:
      base.contextWindow ??
      firstCount(
        model["context_window"],
        model["max_context_length"],
        model["max_model_length"],
        fieldsOf(model["meta"])?.["n_ctx"],
        fieldsOf(model["meta"])?.["n_ctx_train"],
      ),
    maxOutputTokens: base.maxOutputTokens ?? firstCount(model["max_completion_tokens"], top?.["max_completion_tokens"]),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function firstCount(...values: readonly unknown[]): number | null {
  return values.find((value): value is number => typeof value === "number" && value > 0) ?? null;
}
