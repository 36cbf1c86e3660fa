import { AgentError, type SessionMetadata, UNKNOWN_USAGE, type Usd } from "@keelson/protocol";
import type { SessionView } from "keelson";
import { costOf, type ModelFacts, modelFacts, type ModelPrice, type ModelRegistry, priceOf } from "keelson/providers";

/** An estimate of the requests that a session makes when it goes on, before their responses. */
export interface ResumeCost {
  /** The approximate input tokens of its next request. */
  readonly tokens: number;
  /** False if the system prompt and the tools are not included, because nothing was counted since the conversation was compacted. */
  readonly counted: boolean;
  /** The part of the context window that they take. Absent if its size is unknown. */
  readonly windowPart?: number;
  /** The cost of that request if the vendor has nothing of it in its cache; `null` if the price is unknown. */
  readonly cost: Usd | null;
  /** The cost if the vendor still has the last request in its cache. Absent if it hardly can have. */
  readonly cachedCost?: Usd;
  /** The cost of each turn after it, with a response of the average length. `null` if the price is unknown. */
  readonly turnCost: Usd | null;
}

/** Vendors keep what they cached for 5 to 10 minutes after it was last used. */
const CACHE_MS = 10 * 60_000;

/**
 * Estimates the cost of going on with a session. `undefined` before its first run.
 * @param models finds the price of a model. Absent: the built-in table is used
 */
export function resumeCost(
  { context, metadata }: Pick<SessionView, "context"> & { readonly metadata: Pick<SessionMetadata, "updatedAt" | "turnCount" | "usage"> },
  now: number,
  models?: ModelRegistry,
): ResumeCost | undefined {
  if (context === undefined) return undefined;
  const { model, tokens, counted, cachedTokens } = context;
  const { price, facts } = factsOf(model, models);
  const { contextWindow } = facts;
  const cached = Math.min(cachedTokens, tokens);
  const isCaching = cachedTokens > 0 && price?.cacheRead !== undefined;
  const bought = (cacheReadTokens: number, cacheCreationTokens: number, outputTokens = 0): Usd | null =>
    costOf({ ...UNKNOWN_USAGE, inputTokens: tokens, outputTokens, cacheReadTokens, cacheCreationTokens }, price);
  const isWarm = isCaching && now - metadata.updatedAt < CACHE_MS;
  const cachedCost = isWarm ? bought(cached, tokens - cached) : null;
  const response = Math.round((metadata.usage.outputTokens ?? 0) / Math.max(1, metadata.turnCount));
  return {
    tokens,
    counted,
    ...(contextWindow !== undefined && { windowPart: Math.min(1, tokens / contextWindow) }),
    cost: bought(0, isCaching ? tokens : 0),
    ...(cachedCost !== null && { cachedCost }),
    turnCost: bought(isCaching ? tokens : 0, 0, response),
  };
}

function factsOf(model: string, models: ModelRegistry | undefined): { readonly price: ModelPrice | null; readonly facts: ModelFacts } {
  try {
    if (models !== undefined) return models.resolve(model);
  } catch (error) {
    // The environment gives no access to the model; its list price is known all the same.
    if (!AgentError.is(error)) throw error;
  }
  return { price: priceOf(model), facts: modelFacts(model) };
}
