import type { StopReasons } from "../stop-reason.ts";
import type { AnthropicStopReason } from "./anthropic-wire.ts";

/** The reasons of Anthropic (API reference, "Messages", `stop_reason`). */
const ANTHROPIC = {
  end_turn: "end-turn",
  tool_use: "tool-use",
  max_tokens: "max-tokens",
  model_context_window_exceeded: "max-tokens",
  stop_sequence: "stop-sequence",
  refusal: "content-filter",
  pause_turn: "pause",
  compaction: "pause",
} as const satisfies { readonly [Reason in AnthropicStopReason]: StopReasons[string] };

/** The good reasons of the Messages API. Gateways that translate from the chat wire keep its words. */
export const ANTHROPIC_STOP_REASONS: StopReasons = {
  ...ANTHROPIC,
  stop: "end-turn",
  tool_calls: "tool-use",
  length: "max-tokens",
  content_filter: "content-filter",
};
