import { modelFamily } from "../history/model-family.ts";

const LINES = /claude|gpt-oss|gpt|gemini|gemma|qwen|llama|(?:min|mag|dev|code)?i?stral|mixtral|grok|deepseek|glm|kimi|sonar|command|\bo\d/;
const OF_MISTRAL = /stral$|^mixtral$/;

/** Whose models these are, in a word: models of one line mostly share their tokenizer and the way they are told of tools. */
export function modelLine(model: string): string {
  const family = modelFamily(model).toLowerCase();
  const line = LINES.exec(family)?.[0] ?? family;
  return OF_MISTRAL.test(line) ? "mistral" : line;
}
