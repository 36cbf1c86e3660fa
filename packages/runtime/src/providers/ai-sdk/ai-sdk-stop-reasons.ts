import type { StopReasons } from "../stop-reason.ts";

/** The good reasons of the AI SDK (`LanguageModelV2FinishReason` and later). Not listed are `error`, `other` and `unknown`. */
export const AI_SDK_STOP_REASONS: StopReasons = {
  "stop": "end-turn",
  "length": "max-tokens",
  "content-filter": "content-filter",
  "tool-calls": "tool-use",
};
