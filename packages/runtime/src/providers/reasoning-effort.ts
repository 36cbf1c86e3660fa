import type { InferRequest } from "@keelson/protocol";
import { thinkingEffort } from "./thinking-effort.ts";

export type ReasoningEffort = "none" | "low" | "medium" | "high" | "xhigh";

/** Names of OpenAI's models that reason by levels; another one refuses to be given any. */
const REASONS = /^(?:o1(?!-mini|-preview)|o[34]|gpt-[5-9](?!.*chat))/;

/** What OpenAI calls the effort: models from GPT-5.1 on can leave reasoning out; those from 5.2 on have a level above `high`. */
export function reasoningEffort(request: InferRequest, model: string): ReasoningEffort | undefined {
  const { thinking } = request;
  const version = Number(/gpt-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? Number.NaN);
  const effort = request.effort ?? (REASONS.test(model) ? thinkingEffort(request) : undefined);
  if (effort === undefined) return thinking?.type === "disabled" && version >= 5.1 ? "none" : undefined;
  return effort === "max" ? (version >= 5.2 ? "xhigh" : "high") : effort;
}
