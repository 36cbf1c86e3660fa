import { addUsd, compareUsd, ZERO_USD, type BudgetAmount, type BudgetLedger, type Usd } from "@keelson/protocol";

/** The ledger of one loop that nothing else shares: whatever it reserves, it settles before it reserves again. */
export function createUnsharedLedger(): BudgetLedger {
  let spent: Required<BudgetAmount> = { cost: ZERO_USD, tokens: 0, turns: 0, toolCalls: 0, modelCalls: 0 };
  const plus = (amount: Usd | BudgetAmount): Required<BudgetAmount> => {
    const {
      cost = ZERO_USD,
      tokens = 0,
      turns = 0,
      toolCalls = 0,
      modelCalls = 0,
    } = typeof amount === "string" ? { cost: amount } : amount;
    return {
      cost: addUsd(spent.cost, cost),
      tokens: spent.tokens + tokens,
      turns: spent.turns + turns,
      toolCalls: spent.toolCalls + toolCalls,
      modelCalls: spent.modelCalls + modelCalls,
    };
  };
  return {
    id: "lone",
    async reserve(_key, scopes, amount) {
      const wanted = plus(amount);
      for (const { id, maxCost, maxTokens } of scopes) {
        if (maxCost !== undefined && compareUsd(wanted.cost, maxCost) > 0)
          return { type: "refused", scope: id, limit: maxCost, spent: spent.cost };
        if (maxTokens !== undefined && wanted.tokens > maxTokens)
          return { type: "refused", scope: id, unit: "tokens", limit: maxTokens, spent: spent.tokens };
      }
      return { type: "reserved" };
    },
    async settle(_key, actual) {
      spent = plus(actual);
    },
    release: async () => {},
    spent: async () => spent.cost,
    used: async () => spent,
    retire: async () => {},
    changed: async () => {},
  };
}
