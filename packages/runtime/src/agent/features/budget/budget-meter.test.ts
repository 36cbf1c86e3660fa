import fc from "fast-check";
import { expect, it } from "vitest";
import { createBudgetMeter } from "./budget-meter.ts";

const firstMarkedTurn = (own: { readonly turns?: number; readonly durationMs?: number }, thresholds?: readonly number[]) =>
  createBudgetMeter({ ownScope: "run/r", scopes: [], own, thresholds })?.firstMarkedTurn;

it("no turn before the first that is marked reaches a threshold of the limit of turns", () => {
  const thresholds = fc.array(fc.double({ min: 0, max: 1, minExcluded: true, noNaN: true }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), thresholds, (turns, parts) => {
      let first = 0;
      while (!parts.some((part) => first / turns >= part)) first++;
      expect(first).toBeGreaterThanOrEqual(firstMarkedTurn({ turns }, parts) as number);
    }),
  );
});

it("turns are marked from the lowest threshold on, all of them under a limit of time, and none where nobody is to hear", () => {
  expect(firstMarkedTurn({ turns: 5000 })).toBe(2500);
  expect(firstMarkedTurn({ turns: 10 }, [0.9, 0.3])).toBe(3);
  expect(0.07 * 100).toBeGreaterThan(7);
  expect(firstMarkedTurn({ turns: 100 }, [0.07])).toBe(7);
  expect(firstMarkedTurn({ turns: 5000, durationMs: 1000 })).toBe(0);
  expect(firstMarkedTurn({ turns: 5000 }, [])).toBe(Number.POSITIVE_INFINITY);
});
