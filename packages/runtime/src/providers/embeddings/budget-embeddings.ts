import { type BudgetAmount, type BudgetLedger, type BudgetScope, type Embedder, ModelError, type Usage } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { randomId } from "../../json/random-id.ts";
import type { PriceTable } from "../model-price.ts";
import { costOf, priceOf, worstCase } from "../prices.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { EMBEDDER_METHODS } from "../../json/interface-methods.ts";

export interface EmbeddingBudgetOptions {
  readonly ledger: BudgetLedger;
  /** What embedding counts against: shared with runs where they name the same ids. */
  readonly scopes: readonly BudgetScope[];
  /** Prices that go before the built-in ones. */
  readonly prices?: PriceTable | undefined;
}

/**
 * Counts what an embedder costs on a budget ledger: the worst case is reserved before anything is sent, and settled by what the vendor reports; where it
 * reports nothing, or fails after it was sent, the whole reservation counts. Waits where only others' open reservations stand in the way.
 * @throws ModelError `billing` where too little is left, or a scope bounds money and the price of the model is not known
 */
export function budgetEmbeddings(embedder: Embedder, options: EmbeddingBudgetOptions): Embedder {
  checkOptionNames("budgetEmbeddings", options, { ledger: true, scopes: true, prices: true });
  const { ledger, scopes, prices } = options;
  const { name, model } = embedder;
  const price = priceOf(`${name}/${model}`, prices);
  const refusal = (message: string): ModelError => new ModelError({ kind: "billing", progress: "unsent", message, provider: name, model });
  const bounding = scopes.find(({ maxCost, unknownPrice }) => maxCost !== undefined && unknownPrice !== "allow");
  const amountOf = (tokens: number): BudgetAmount => ({ tokens, ...(price && { cost: worstCase(tokens, 0, price) }) });

  async function reserve(key: string, amount: BudgetAmount, signal: AbortSignal): Promise<void> {
    for (;;) {
      const answer = await ledger.reserve(key, scopes, amount, { inTurn: true });
      if (answer.type === "reserved") return;
      if (answer.type === "refused") {
        const { unit = "cost", limit, spent } = answer;
        throw refusal(
          `The embedding would pass the budget "${answer.scope}": of ${limit} (${unit}), ${spent} are spent. Raise it, or embed less at once.`,
        );
      }
      await ledger.changed(
        scopes.map(({ id }) => id),
        { signal, key },
      );
      if (signal.aborted) {
        await ledger.release(key);
        throw new ModelError({ kind: "cancelled", message: "the embedding was cancelled", provider: name, model });
      }
    }
  }

  const wrapped: Embedder = {
    name,
    model,
    async embed(texts, embedOptions = {}) {
      if (texts.length === 0) return embedder.embed(texts, embedOptions);
      if (price === null && bounding !== undefined)
        throw refusal(
          `The budget "${bounding.id}" bounds money, and the price of ${name}/${model} is not known: give \`prices\`, or set its unknownPrice to "allow".`,
        );
      const key = `embed/${randomId()}`;
      // No vendor counts more tokens than a text has bytes, but for the few that it puts around each.
      const bound = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + TOKENS_AROUND_A_TEXT, 0);
      const amount = amountOf(bound);
      await reserve(key, amount, embedOptions.signal ?? new AbortController().signal);
      try {
        const result = await embedder.embed(texts, embedOptions);
        const { inputTokens } = result.usage;
        await ledger.settle(key, inputTokens === null ? amount : spentBy(inputTokens));
        return result;
      } catch (error) {
        if (ModelError.is(error) && error.failure.progress === "unsent") await ledger.release(key);
        else await ledger.settle(key, amount);
        throw error;
      }
    },
  };
  return checkMethodOptions("embedder", wrapped, EMBEDDER_METHODS);

  function spentBy(inputTokens: number): BudgetAmount {
    const usage: Usage = { inputTokens, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0, reasoningTokens: 0 };
    const cost = costOf(usage, price);
    return { tokens: inputTokens, ...(cost !== null && { cost }) };
  }
}

const TOKENS_AROUND_A_TEXT = 8;
