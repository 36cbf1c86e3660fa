import type { EffortLevel, InferRequest } from "@keelson/protocol";
import { thinkingEffort } from "../thinking-effort.ts";
import type { GeminiThinkingAmount, GeminiThinkingConfig } from "./gemini-wire.ts";

/** 2.5 for `gemini-2.5-flash`; `NaN` for aliases such as `gemini-flash-latest`, and for models of other families. */
export function geminiGeneration(model: string): number {
  return Number(/gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? Number.NaN);
}

/** As Google's own OpenAI-compatible API maps the levels. */
const BUDGETS: { readonly [level in EffortLevel]: number } = { low: 1024, medium: 8192, high: 24_576, max: 24_576 };
const PRO_MAX_BUDGET = 32_768;
/** The least that a model takes which cannot stop thinking. */
const PRO_MIN_BUDGET = 128;
/** The model decides. */
const DYNAMIC = -1;

/**
 * `thinkingConfig`, whose means differ by generation: levels from Gemini 3 on, budgets in 2.5, nothing before. `undefined` leaves
 * the choice to the model.
 */
export function thinkingConfig({ thinking, effort }: InferRequest, model: string): GeminiThinkingConfig | undefined {
  const generation = geminiGeneration(model);
  if (!model.includes("gemini-") || generation < 2.5) return undefined;
  const amount =
    thinking?.type !== "enabled" && generation >= 3
      ? levelOf(thinking?.type === "disabled", thinkingEffort({ effort, thinking }), model)
      : budgetOf(thinking, effort, model);
  const includeThoughts = thinking?.type === "enabled" || thinking?.type === "adaptive";
  if (!includeThoughts && Object.keys(amount).length === 0) return undefined;
  return { ...amount, ...(includeThoughts && { includeThoughts }) };
}

function levelOf(disabled: boolean, effort: EffortLevel | undefined, model: string): GeminiThinkingAmount {
  const flash = model.includes("flash");
  // No model of this generation can leave thinking out; the pro ones know fewer levels.
  if (disabled) return { thinkingLevel: flash ? "minimal" : "low" };
  if (effort === undefined) return {};
  if (effort === "medium") return { thinkingLevel: flash || geminiGeneration(model) > 3 ? "medium" : "high" };
  return { thinkingLevel: effort === "low" ? "low" : "high" };
}

function budgetOf(thinking: InferRequest["thinking"], effort: EffortLevel | undefined, model: string): GeminiThinkingAmount {
  const pro = model.includes("pro");
  if (thinking?.type === "enabled") return { thinkingBudget: thinking.budgetTokens };
  if (thinking?.type === "disabled") return { thinkingBudget: pro ? PRO_MIN_BUDGET : 0 };
  if (effort !== undefined) return { thinkingBudget: effort === "max" && pro ? PRO_MAX_BUDGET : BUDGETS[effort] };
  return thinking === undefined ? {} : { thinkingBudget: DYNAMIC };
}
