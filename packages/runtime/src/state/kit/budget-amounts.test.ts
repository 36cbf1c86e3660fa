import { type BudgetScope, LogError, usd } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import {
  amountsOf,
  budgetAmountOf,
  difference,
  limitsByScope,
  moneyIn,
  readAmounts,
  refusalBy,
  sameAmounts,
  shortageOf,
  sum,
  waitingReservation,
  writeAmounts,
} from "./budget-amounts.ts";
import { countedLines } from "./budget-queue.ts";
import { noReservation, otherReservation, otherSettlement } from "./budget-ledger-terms.ts";

const PICO = 1_000_000_000_000n;

function failure(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return LogError.is(error) ? error.failure : error;
  }
  return undefined;
}

describe("amounts", () => {
  it("are money alone, or as many units as were named, the ones between left open", () => {
    expect(amountsOf(usd("1.5"), "the cost of", "k")).toEqual([PICO + PICO / 2n]);
    expect(amountsOf({}, "the cost of", "k")).toEqual([]);
    expect(amountsOf({ turns: 2 }, "the cost of", "k")).toEqual([undefined, undefined, 2n, undefined, undefined]);
    expect(amountsOf({ cost: usd("1"), tokens: 0, turns: 2, toolCalls: 3, modelCalls: 4 }, "the cost of", "k")).toEqual([
      PICO,
      0n,
      2n,
      3n,
      4n,
    ]);
  });

  it("that are none are refused in words that name them", () => {
    const cases: readonly (readonly [Parameters<typeof amountsOf>[0], string])[] = [
      ["-1" as never, 'the cost of "k" must not be negative; it is -1.'],
      ["much" as never, 'the cost of "k" must be a decimal amount in US dollars; it is "much".'],
      [{ tokens: 1.5 }, 'the cost of "k" must have a whole number of tokens from zero; it has 1.5.'],
      [{ turns: -1 }, 'the cost of "k" must have a whole number of turns from zero; it has -1.'],
      [{ toolCalls: "2" as never }, 'the cost of "k" must have a whole number of tool-calls from zero; it has 2.'],
      [{ modelCalls: Number.POSITIVE_INFINITY }, 'the cost of "k" must have a whole number of model-calls from zero; it has Infinity.'],
    ];
    for (const [amount, message] of cases)
      expect(failure(() => amountsOf(amount, "the cost of", "k"))).toEqual({ kind: "invalid-input", message });
    expect(() => amountsOf("much" as never, "the cost of", "k")).toThrow(expect.objectContaining({ cause: expect.any(Error) }));
    expect(() => amountsOf("-1" as never, "the cost of", "k")).toThrow(expect.not.objectContaining({ cause: expect.anything() }));
  });

  it("are the same whether a unit is not named or is none of", () => {
    expect(sameAmounts([1n], [1n, undefined, 0n])).toBe(true);
    expect(sameAmounts([1n, 0n], [1n])).toBe(true);
    expect(sameAmounts([1n], [1n, 2n])).toBe(false);
    expect(sameAmounts([1n, 2n], [1n])).toBe(false);
    expect(sameAmounts([undefined], [0n])).toBe(true);
  });

  it("are added to sums that grow with them, and taken away again", () => {
    const grown = sum([1n], [2n, undefined, 3n]);
    expect(grown).toEqual([3n, 0n, 3n]);
    const less = difference(difference(grown, [1n]), [undefined, undefined, 1n]);
    expect(less).toEqual([2n, 0n, 2n]);
    expect(sameAmounts(sum(less, [undefined, undefined, undefined, undefined]), less)).toBe(true);
  });

  it("come back from text as they were", () => {
    for (const amounts of [[], [5n], [undefined, 3n], [PICO, undefined, undefined, 2n, 1n]])
      expect(readAmounts(writeAmounts(amounts))).toEqual(amounts);
    expect(writeAmounts([1n, undefined, 2n])).toBe("1,,2");
  });

  it("are told in full, with zero for what is not in them", () => {
    expect(budgetAmountOf([])).toEqual({ cost: "0", tokens: 0, turns: 0, toolCalls: 0, modelCalls: 0 });
    expect(budgetAmountOf([PICO, 1n, 2n, 3n, 4n])).toEqual({ cost: "1", tokens: 1, turns: 2, toolCalls: 3, modelCalls: 4 });
    expect(moneyIn([undefined, 5n])).toBe("0");
  });
});

describe("limits", () => {
  it("of a scope that is named twice are the lower ones, unit by unit", () => {
    const scopes: readonly BudgetScope[] = [
      { id: "a", maxCost: usd("2"), maxTokens: 5, maxToolCalls: 7 },
      { id: "b", maxModelCalls: 1 },
      { id: "a", maxCost: usd("1"), maxTokens: 6, maxTurns: 3 },
    ];
    const limits = limitsByScope(scopes);
    expect([...limits.keys()]).toEqual(["a", "b"]);
    expect(limits.get("a")).toEqual([PICO, 5n, 3n, 7n, undefined]);
    expect(limits.get("b")).toEqual([undefined, undefined, undefined, undefined, 1n]);
    expect(limitsByScope([...scopes].reverse()).get("a")).toEqual([PICO, 5n, 3n, 7n, undefined]);
  });

  it("that are none are refused with the scope's name", () => {
    expect(failure(() => limitsByScope([{ id: "a", maxTurns: 0.5 }]))).toMatchObject({
      message: 'the limit of "a" must have a whole number of turns from zero; it has 0.5.',
    });
  });

  it("refuse what spending leaves no room for, in the first unit of which there is too little, whatever is reserved", () => {
    const limits = [PICO, undefined, 3n];
    expect(refusalBy("a", limits, undefined, [PICO])).toBeUndefined();
    expect(refusalBy("a", limits, undefined, [PICO + 1n])).toEqual({ type: "refused", scope: "a", limit: "1", spent: "0" });
    expect(refusalBy("a", limits, { spent: [1n], reserved: [PICO] }, [PICO - 1n, 100n, 3n])).toBeUndefined();
    expect(refusalBy("a", limits, { spent: [PICO / 2n, 0n, 2n], reserved: [] }, [undefined, undefined, 2n])).toEqual({
      type: "refused",
      scope: "a",
      unit: "turns",
      limit: 3,
      spent: 2,
    });
  });

  it("say how much is left where that is too little, never less than nothing", () => {
    const limits = [10n, undefined];
    const standing = { spent: [4n], reserved: [3n] };
    expect(shortageOf(limits, standing, [3n], 0)).toBeUndefined();
    expect(shortageOf(limits, standing, [4n], 0)).toBe(3n);
    expect(shortageOf(limits, { spent: [8n], reserved: [3n] }, [1n], 0)).toBe(0n);
    expect(shortageOf(limits, undefined, [11n], 0)).toBe(10n);
    expect(shortageOf(limits, standing, [undefined, 5n], 0)).toBeUndefined();
    expect(shortageOf(limits, standing, [undefined, 5n], 1)).toBeUndefined();
  });

  it("let wait with what there is, in the unit that is short", () => {
    expect(waitingReservation("a", 0, PICO / 4n)).toEqual({ type: "wait", scope: "a", available: "0.25" });
    expect(waitingReservation("a", 3, 2n)).toEqual({ type: "wait", scope: "a", unit: "tool-calls", available: 2 });
  });

  it("count a unit only where both the limit and what is asked for name it", () => {
    expect(countedLines("a:b", [1n, 1n], [1n, 1n])).toEqual([
      { unit: 0, line: "0:a:b" },
      { unit: 1, line: "1:a:b" },
    ]);
    expect(countedLines("a", [undefined], [1n])).toEqual([]);
    expect(countedLines("a", [1n], [undefined])).toEqual([]);
  });
});

describe("what a ledger refuses to do", () => {
  it("is told with the key, and with what to do or what stands against it", () => {
    expect(noReservation("k").failure).toEqual({
      kind: "not-found",
      log: "k",
      message: 'There is no reservation "k" to settle: it was released, or made on another ledger. Reserve before settling.',
    });
    expect(otherReservation("k").failure).toEqual({
      kind: "invalid-input",
      message: 'Reservation "k" is open with other scopes or another amount. Another act needs another key.',
    });
    expect(otherSettlement("k", [PICO, 2n, 0n, 3n, 4n], [undefined, undefined, 1n]).failure).toEqual({
      kind: "invalid-input",
      message: 'Reservation "k" was settled for $1, 2 tokens, 3 tool calls, 4 model calls; it cannot be settled for $0, 1 turns as well.',
    });
  });
});
