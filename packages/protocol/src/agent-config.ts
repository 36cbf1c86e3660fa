/** How a structured output is asked for. `tool` works everywhere, `native` needs the vendor, `prompt` reads it from text. */
export type OutputMode = "tool" | "native" | "prompt" | "custom";

/** What becomes of the base prompt. */
export type SystemPromptConfig =
  | { readonly type: "append"; readonly content: string }
  | { readonly type: "replace"; readonly content: string };

/** When to compact; an absent threshold is not looked at. */
export interface SummarisationThresholds {
  readonly maxMessages?: number;
  readonly maxTokens?: number;
  /** 0 to 1. */
  readonly maxContextUtilization?: number;
}
