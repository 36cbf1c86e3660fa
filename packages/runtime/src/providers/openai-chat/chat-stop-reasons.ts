import type { StopReasons } from "../stop-reason.ts";
import type { ChatFinishReason } from "./chat-wire.ts";

/** The reasons of OpenAI (API reference, "The chat completion object"). */
const OPENAI = {
  stop: "end-turn",
  tool_calls: "tool-use",
  function_call: "tool-use",
  length: "max-tokens",
  content_filter: "content-filter",
} as const satisfies { readonly [Reason in ChatFinishReason]: StopReasons[string] };

/**
 * The good reasons of the chat wire. Not listed are those of failures: `error` (Mistral, OpenRouter), `network_error` (Z.ai),
 * `insufficient_system_resource` (DeepSeek), `abort` (vLLM, SGLang), `function_call_filter` (Google), `malformed_function_call`.
 */
export const CHAT_STOP_REASONS: StopReasons = {
  ...OPENAI,
  // Together, Hugging Face's text generation inference, Baidu, Cohere, and gateways that pass on the word of Gemini or AI21.
  "eos": "end-turn",
  "eos_token": "end-turn",
  "normal": "end-turn",
  "complete": "end-turn",
  "completed": "end-turn",
  "endoftext": "end-turn",
  // Gateways that pass on the words of Anthropic, Bedrock and the Responses API.
  "end_turn": "end-turn",
  "stop_sequence": "stop-sequence",
  "tool_use": "tool-use",
  "tool_call": "tool-use",
  "tool-calls": "tool-use",
  "pause_turn": "pause",
  "refusal": "content-filter",
  "guardrail_intervened": "content-filter",
  "content_filtered": "content-filter",
  "max_output_tokens": "max-tokens",
  // `max_tokens` is Gemini's as well; Mistral and Z.ai name the window of the model.
  "max_tokens": "max-tokens",
  "model_length": "max-tokens",
  "model_context_window_exceeded": "max-tokens",
  // Z.ai and Tencent; OpenAI's word with a hyphen; Gemini's words, passed on.
  "sensitive": "content-filter",
  "content-filter": "content-filter",
  "safety": "content-filter",
  "recitation": "content-filter",
  "blocklist": "content-filter",
  "prohibited_content": "content-filter",
  "spii": "content-filter",
};
