import { expect, it } from "vitest";
import { readBudgetOf } from "./read-budget.ts";

it("shares a fifth of the remaining context between the reads of a batch, and gives each at least 2,000 tokens [TC-07]", () => {
  expect(readBudgetOf({ contextLeft: 100_000, reads: 1 })).toEqual({ remaining: 100_000, perRead: 20_000 });
  expect(readBudgetOf({ contextLeft: 100_000, reads: 4 })).toEqual({ remaining: 100_000, perRead: 5_000 });
  expect(readBudgetOf({ contextLeft: 100_000, reads: 16 })).toEqual({ remaining: 100_000, perRead: 2_000 });
  expect(readBudgetOf({ contextLeft: 0, reads: 1 })).toEqual({ remaining: 0, perRead: 2_000 });
});

it("takes a batch without a counted read, an unknown window and a call outside of a run for a single read [TC-07]", () => {
  expect(readBudgetOf({ contextLeft: 50_000, reads: 0 })).toEqual({ remaining: 50_000, perRead: 10_000 });
  expect(readBudgetOf({ contextLeft: undefined, reads: 2 })).toEqual({ remaining: undefined, perRead: 10_000 });
  expect(readBudgetOf(undefined)).toEqual({ remaining: undefined, perRead: 20_000 });
});
