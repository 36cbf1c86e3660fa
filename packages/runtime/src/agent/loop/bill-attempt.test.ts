import { compareUsd, UNKNOWN_USAGE, usd, type InferEnd, type ModelFailure, type RequestProgress, type Usage } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InferFold } from "../../providers/infer-fold.ts";
import { worstCase } from "../../providers/prices.ts";
import type { ModelPrice } from "../../providers/model-price.ts";
import { billAttempt, NO_BILL, type Attempted } from "./bill-attempt.ts";

const price: ModelPrice = { input: "2", output: "10", cacheRead: "0.2", cacheWrite: "2.5", asOf: "2026-01-01" };
const strict = [{ id: "b", maxCost: usd("1") }];
const loose = [{ id: "b", maxCost: usd("1"), withoutUsage: "estimate" as const }];
const tokens = (inputTokens: number | null, outputTokens: number | null): Usage => ({ ...UNKNOWN_USAGE, inputTokens, outputTokens });
const broken = (more: Partial<ModelFailure> = {}): ModelFailure => ({ kind: "server-error", message: "it broke", ...more }) as ModelFailure;

function attempted(text = "", { end, held = true }: { readonly end?: Usage; readonly held?: boolean } = {}): Attempted {
  const fold = new InferFold();
  if (text !== "") fold.push({ type: "text-delta", text });
  if (end !== undefined) fold.push({ type: "end", stopReason: "end-turn", rawStopReason: null, usage: end, model: "m" } satisfies InferEnd);
  return {
    price,
    inputBound: 1000,
    estimateInput: () => ({ tokens: 250.5, cached: 0 }),
    reserved: held ? { maxTokens: 500, outputTokens: 500, amount: worstCase(1000, 500, price) } : {},
    fold,
  };
}

describe("what an attempt counts as", () => {
  it("is what the vendor reported, of a whole response and of a broken one, however little of it was seen", () => {
    const used = tokens(700, 400);
    expect(billAttempt(attempted("hi", { end: used }), strict)).toEqual({ usage: used, cost: "0.0054" });
    expect(billAttempt(attempted("hi"), strict, broken({ progress: "begun", usage: used }))).toEqual({ usage: used, cost: "0.0054" });
    // What was reported is not made less by what was reserved.
    expect(billAttempt(attempted("hi", { end: tokens(2000, 900) }), strict).cost).toBe("0.013");
  });

  it("is nothing where the request was never sent, or refused by its status", () => {
    for (const failure of [{ progress: "unsent" }, { progress: "refused" }, { status: 429 }, { status: 503 }] as const)
      expect(billAttempt(attempted(), strict, broken(failure))).toEqual(NO_BILL);
  });

  it("is its whole reservation, input and output, wherever nothing was reported", () => {
    const whole = { usage: tokens(1000, 500), cost: "0.0075", estimated: "reserve" };
    for (const progress of ["sent", "begun", undefined] as const)
      for (const text of ["", "half of it"]) expect(billAttempt(attempted(text), strict, broken(progress && { progress }))).toEqual(whole);
    expect(billAttempt(attempted("all of it", { end: UNKNOWN_USAGE }), strict)).toEqual(whole);
    // Cut at what a response may hold.
    expect(billAttempt(attempted("too much"), strict)).toEqual(whole);
    // An error that came in the response carries no status that refuses it.
    expect(billAttempt(attempted("hi"), strict, broken({ status: 529, progress: "begun" }))).toEqual(whole);
  });

  it("takes of a report that tells one half the other from the reservation", () => {
    expect(billAttempt(attempted("hi", { end: tokens(null, 20) }), strict)).toMatchObject({ usage: tokens(1000, 20), cost: "0.0027" });
    expect(billAttempt(attempted("hi", { end: tokens(30, null) }), strict)).toMatchObject({ usage: tokens(30, 500), estimated: "reserve" });
  });

  it("is what was sent and seen where every limit of money and tokens says so, or there is none", () => {
    const seen = { usage: tokens(251, 5), cost: "0.000552", estimated: "estimate" };
    expect(billAttempt(attempted("hi"), loose, broken({ progress: "sent" }))).toEqual(seen);
    expect(billAttempt(attempted("hi"), [...loose, { id: "calls", maxModelCalls: 3 }], broken())).toEqual(seen);
    expect(billAttempt(attempted("hi", { held: false }), [], broken())).toEqual(seen);
    expect(billAttempt(attempted("hi"), [...loose, ...strict], broken()).estimated).toBe("reserve");
    expect(billAttempt(attempted("hi"), [...loose, { id: "t", maxTokens: 9000 }], broken()).estimated).toBe("reserve");
  });

  it("counts tokens and not bytes, and what the vendor probably read from its cache at the price of that", () => {
    const text = "The quick brown fox jumps over the lazy dog. ".repeat(100);
    const estimate = { ...attempted(text, { held: false }), inputBound: 90_000, estimateInput: () => ({ tokens: 20_000, cached: 18_000 }) };
    const { usage, cost } = billAttempt(estimate, [], broken());
    expect(usage).toMatchObject({ inputTokens: 20_000, cacheReadTokens: 18_000 });
    // The text is 1,001 tokens of o200k and 4,500 bytes.
    expect(usage.outputTokens).toBeGreaterThan(900);
    expect(usage.outputTokens).toBeLessThan(1_100);
    // 2,000 tokens at 2, 18,000 at 0.2, about 1,000 at 10 dollars a million.
    expect(Number(cost)).toBeCloseTo(0.0176, 2);
  });

  it("never passes its own reservation by an estimate, whatever was seen of it", () => {
    const count = fc.integer({ min: 0, max: 1000 });
    const progress = fc.constantFrom<RequestProgress | undefined>("unsent", "sent", "refused", "begun", undefined);
    const cases = fc.record({ text: fc.string({ maxLength: 2000 }), progress, scopes: fc.constantFrom(strict, loose), input: count });
    fc.assert(
      fc.property(cases, ({ text, progress: reached, scopes, input }) => {
        const attempt = attempted(text);
        const bills = [
          billAttempt(attempt, scopes, broken(reached && { progress: reached })),
          billAttempt(attempted(text, { end: UNKNOWN_USAGE }), scopes),
          billAttempt(attempted(text, { end: tokens(input, null) }), scopes),
        ];
        for (const { usage, cost } of bills) {
          expect(compareUsd(cost as never, attempt.reserved.amount as never)).toBeLessThanOrEqual(0);
          expect(usage.inputTokens).toBeLessThanOrEqual(1000);
          expect(usage.outputTokens).toBeLessThanOrEqual(500);
        }
      }),
    );
  });
});
