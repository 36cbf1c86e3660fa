import type { ToolSchema, UnfitTool } from "@keelson/protocol";
import { fitTools } from "./fit-tools.ts";
import { AI_SDK_RULES } from "./rules/ai-sdk.ts";
import { ANTHROPIC_RULES } from "./rules/anthropic.ts";
import { GEMINI_RULES } from "./rules/gemini.ts";
import { OLLAMA_RULES } from "./rules/ollama.ts";
import { OPENAI_RULES } from "./rules/openai.ts";
import type { WireRules } from "./wire-rules.ts";

/** By wire. A server of the chat wire may have rules of its own, which its provider knows. */
export const WIRE_RULES: { readonly [wire: string]: WireRules } = {
  "anthropic-messages": ANTHROPIC_RULES,
  "openai-chat": OPENAI_RULES,
  "openai-responses": OPENAI_RULES,
  "gemini": GEMINI_RULES,
  "ollama-chat": OLLAMA_RULES,
  "ai-sdk": AI_SDK_RULES,
};

/** The tools that a request over this wire leaves out; none if the wire is not known. */
export function unfitTools(tools: readonly ToolSchema[], wire: string): readonly UnfitTool[] {
  return Object.hasOwn(WIRE_RULES, wire) ? fitTools(tools, WIRE_RULES[wire] as WireRules).unfit : [];
}
