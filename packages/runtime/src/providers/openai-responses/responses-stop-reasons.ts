import type { StopReasons } from "../stop-reason.ts";

/**
 * The good endings of the Responses API (API reference, "The response object"): its `status`, and the reason of an `incomplete` one.
 * Not listed are `failed`, `cancelled`, `queued` and `in_progress`.
 */
export const RESPONSES_STOP_REASONS: StopReasons = {
  completed: "end-turn",
  max_output_tokens: "max-tokens",
  max_tokens: "max-tokens",
  content_filter: "content-filter",
};
