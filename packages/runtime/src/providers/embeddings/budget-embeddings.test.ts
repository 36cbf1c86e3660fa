import { type BudgetScope, type Embedder, ModelError, usd } from "@keelson/protocol";
import { createMemoryBudgetLedger } from "keelson/state";
import { expect, it } from "vitest";
import { budgetEmbeddings } from "./budget-embeddings.ts";

// Two cents for a million tokens, as the built-in table has it.
const MODEL = "text-embedding-3-small";
const embedderOf = (embed: Embedder["embed"], model = MODEL): Embedder => ({ name: "openai", model, embed });
const answering = (inputTokens: number | null): Embedder =>
  embedderOf(async (texts) => ({ vectors: texts.map(() => [1]), usage: { inputTokens }, model: MODEL }));
const team = (changes: Partial<BudgetScope> = {}): BudgetScope => ({ id: "team", maxCost: usd("1"), ...changes });

it("counts what was reported, and the worst case where nothing was or the request failed after it was sent", async () => {
  const ledger = createMemoryBudgetLedger();
  const scopes = [team()];
  await budgetEmbeddings(answering(1_000_000), { ledger, scopes }).embed(["some text"]);
  expect(await ledger.used("team")).toMatchObject({ cost: "0.02", tokens: 1_000_000 });
  await budgetEmbeddings(answering(null), { ledger, scopes }).embed(["12345678"]);
  expect((await ledger.used("team")).tokens).toBe(1_000_016);
  const failing = (progress: "unsent" | "begun"): Embedder =>
    embedderOf(() => Promise.reject(new ModelError({ kind: "server-error", message: "down", progress, provider: "openai", model: MODEL })));
  await expect(budgetEmbeddings(failing("begun"), { ledger, scopes }).embed(["12345678"])).rejects.toThrow("down");
  expect((await ledger.used("team")).tokens).toBe(1_000_032);
  await expect(budgetEmbeddings(failing("unsent"), { ledger, scopes }).embed(["12345678"])).rejects.toThrow("down");
  expect((await ledger.used("team")).tokens).toBe(1_000_032);
});

it("sends nothing that could pass a budget, nor what has no known price under one of money", async () => {
  const ledger = createMemoryBudgetLedger();
  let asked = 0;
  const embed: Embedder["embed"] = async (texts) => (asked++, { vectors: texts.map(() => [1]), usage: { inputTokens: 1 }, model: MODEL });
  const poor = budgetEmbeddings(embedderOf(embed), { ledger, scopes: [team({ maxCost: usd("0.0000001") })] });
  await expect(poor.embed(["a long text"])).rejects.toMatchObject({ failure: { kind: "billing", progress: "unsent" } });
  await expect(poor.embed(["a long text"])).rejects.toThrow(/would pass the budget "team"/);
  const unknown = (scope: BudgetScope): Embedder => budgetEmbeddings(embedderOf(embed, "nobodys-model"), { ledger, scopes: [scope] });
  await expect(unknown(team()).embed(["a"])).rejects.toThrow(/price of openai\/nobodys-model is not known/);
  expect(asked).toBe(0);
  await unknown(team({ unknownPrice: "allow" })).embed(["a"]);
  await unknown({ id: "tokens", maxTokens: 100 }).embed(["a"]);
  expect(asked).toBe(2);
  const priced = budgetEmbeddings(embedderOf(embed, "nobodys-model"), {
    ledger,
    scopes: [{ id: "own", maxCost: usd("1") }],
    prices: { "nobodys-model": { input: "1000000", output: "0", asOf: "2026-01-01" } },
  });
  await expect(priced.embed(["a"])).rejects.toThrow(/would pass the budget "own"/);
});

it("never passes a limit together with others, and waits where only they stand in the way", async () => {
  const ledger = createMemoryBudgetLedger();
  const scopes: readonly BudgetScope[] = [{ id: "shared", maxTokens: 30 }];
  const open: (() => void)[] = [];
  const begun: (() => void)[] = [];
  const embedder = budgetEmbeddings(
    embedderOf(async (texts) => {
      const gate = Promise.withResolvers<void>();
      open.push(gate.resolve);
      begun.shift()?.();
      await gate.promise;
      return { vectors: texts.map(() => [1]), usage: { inputTokens: 2 }, model: MODEL };
    }),
    { ledger, scopes },
  );
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  begun.push(first.resolve, second.resolve);
  const one = embedder.embed(["12345678"]);
  const two = embedder.embed(["12345678"]);
  await first.promise;
  expect(open).toHaveLength(1);
  open[0]?.();
  await one;
  await second.promise;
  open[1]?.();
  await two;
  expect((await ledger.used("shared")).tokens).toBe(4);
});
