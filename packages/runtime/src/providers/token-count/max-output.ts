import { modelFacts } from "../model-facts.ts";

/** The most that any model generates in one response as of 2026-11, thinking included. */
const UNKNOWN_MAX_OUTPUT = 128_000;

/** The most output of a response: the bound of its request, else the bound of its model. */
export function maxOutputOf(request: { readonly outputBound?: number | null; readonly provider: string; readonly model: string }): number {
  const { outputBound, provider, model } = request;
  return outputBound ?? modelFacts(`${provider}/${model}`).maxOutputTokens ?? UNKNOWN_MAX_OUTPUT;
}
