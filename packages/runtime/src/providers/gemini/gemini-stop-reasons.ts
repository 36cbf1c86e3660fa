import type { StopReasons } from "../stop-reason.ts";
import type { GeminiFinishReason } from "./gemini-wire.ts";

/** The good reasons by Google's own words. */
const GEMINI = {
  STOP: "end-turn",
  MAX_TOKENS: "max-tokens",
  SAFETY: "content-filter",
  RECITATION: "content-filter",
  BLOCKLIST: "content-filter",
  PROHIBITED_CONTENT: "content-filter",
  SPII: "content-filter",
  MODEL_ARMOR: "content-filter",
  IMAGE_SAFETY: "content-filter",
  IMAGE_PROHIBITED_CONTENT: "content-filter",
  IMAGE_RECITATION: "content-filter",
} as const satisfies { readonly [Reason in GeminiFinishReason]: StopReasons[string] };

/**
 * The good reasons of the Gemini API (API reference, `FinishReason`). Not listed are those of failures: `MALFORMED_FUNCTION_CALL`,
 * `UNEXPECTED_TOOL_CALL`, `TOO_MANY_TOOL_CALLS`, `MISSING_THOUGHT_SIGNATURE`, `MALFORMED_RESPONSE`, `LANGUAGE`, `OTHER`,
 * `IMAGE_OTHER`, `NO_IMAGE`.
 */
export const GEMINI_STOP_REASONS: StopReasons = Object.fromEntries(
  Object.entries(GEMINI).map(([reason, means]) => [reason.toLowerCase(), means]),
);
