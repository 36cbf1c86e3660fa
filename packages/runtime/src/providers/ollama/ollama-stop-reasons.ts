import type { StopReasons } from "../stop-reason.ts";

/** The good reasons of Ollama (`done_reason`, API documentation). `load` and `unload` end requests that generate nothing. */
export const OLLAMA_STOP_REASONS: StopReasons = { stop: "end-turn", length: "max-tokens" };
