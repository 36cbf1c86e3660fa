import type { StopReasons } from "../stop-reason.ts";

/**
 * The good reasons of Ollama (`done_reason`, API documentation). `load` and `unload` end requests that generate nothing. Gateways keep the
 * words of the chat wire.
 */
export const OLLAMA_STOP_REASONS: StopReasons = { stop: "end-turn", length: "max-tokens", tool_calls: "tool-use", tool_call: "tool-use" };
