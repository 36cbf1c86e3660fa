/**
 * The marks that chat templates of models put behind the arguments of a call. A server that parses calls out of a model's text
 * sometimes leaves one of them in the arguments.
 */
const CLOSING_MARKS: readonly string[] = [
  // Hermes, Qwen and GLM
  "</tool_call>",
  "</tool_calls>",
  "</function>",
  "</function_call>",
  "<|im_end|>",
  "<|endoftext|>",
  // Kimi
  "<|tool_call_end|>",
  "<|tool_calls_section_end|>",
  // DeepSeek
  "<｜tool▁call▁end｜>",
  "<｜tool▁calls▁end｜>",
  "<｜end▁of▁sentence｜>",
  // Harmony
  "<|call|>",
  "<|end|>",
  // Llama
  "<|eom_id|>",
  "<|eot_id|>",
  // Mistral
  "[/TOOL_CALLS]",
  "</s>",
];

/** The length of the closing mark at a place of a text; 0 if there is none. */
export function closingMarkLength(text: string, at: number): number {
  return CLOSING_MARKS.find((mark) => text.startsWith(mark, at))?.length ?? 0;
}
