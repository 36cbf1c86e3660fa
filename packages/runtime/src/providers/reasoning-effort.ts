import type { InferRequest } from "@keelson/protocol";

export type ReasoningEffort = "none" | "low" | "medium" | "high" | "xhigh";

/** What OpenAI calls the effort: models from GPT-5.1 on can leave reasoning out; those from 5.2 on have a level above `high`. */
export function reasoningEffort({ effort, thinking }: InferRequest, model: string): ReasoningEffort | undefined {
  const version = Number(/gpt-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? Number.NaN);
  if (effort === undefined) return thinking?.type === "disabled" && version >= 5.1 ? "none" : undefined;
  return effort === "max" ? (version >= 5.2 ? "xhigh" : "high") : effort;
}
