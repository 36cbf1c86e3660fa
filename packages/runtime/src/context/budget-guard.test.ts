import { OperatorError, usd } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { budgetGuard, type BudgetGuardOptions } from "./budget-guard.ts";
import { Context } from "./context.ts";
import type { ContextMetrics } from "./rule.ts";

const usage = { inputTokens: null, outputTokens: null, cacheReadTokens: null, cacheCreationTokens: null, reasoningTokens: null };

/** How an operation ends under a guard, with these metrics. */
async function exitOf(options: BudgetGuardOptions, metrics: Partial<ContextMetrics>): Promise<string> {
  const context = new Context({
    rules: [budgetGuard(options)],
    binding: {
      append: () => {},
      decide: async () => expect.unreachable("a guard depends on nothing but what it is shown: it is not recorded"),
      metrics: () => ({ turnsCompleted: 0, modelCalls: 0, toolCallsTotal: 0, usage, cost: usd("0"), elapsedMs: 0, ...metrics }),
    },
  });
  let executed = false;
  try {
    await context.run({ type: "any", execute: () => void (executed = true) });
    return "went on";
  } catch (error) {
    expect(executed).toBe(false);
    expect(OperatorError.is(error, "halted") && error.failure.by).toBe("limit");
    return OperatorError.is(error, "halted") ? String(error.failure.exit) : String(error);
  }
}

describe("budgetGuard", () => {
  it("stands before every operation, at priority 100 [CE-13]", () => {
    expect(budgetGuard({})).toMatchObject({ trigger: { type: "before-any" }, priority: 100 });
  });

  it("stops once the cost is above its limit, not at it [CE-13]", async () => {
    expect(await exitOf({ maxCost: usd("5.00") }, { cost: usd("5") })).toBe("went on");
    expect(await exitOf({ maxCost: usd("5.00") }, { cost: usd("5.000001") })).toBe("budget-exhausted");
  });

  it("stops once so many turns are complete, 10 when nothing is said [CE-13]", async () => {
    expect(await exitOf({ maxTurns: 25 }, { turnsCompleted: 24 })).toBe("went on");
    expect(await exitOf({ maxTurns: 25 }, { turnsCompleted: 25 })).toBe("max-turns");
    expect(await exitOf({}, { turnsCompleted: 9 })).toBe("went on");
    expect(await exitOf({}, { turnsCompleted: 10 })).toBe("max-turns");
  });

  it("stops once more time has passed [CE-13]", async () => {
    expect(await exitOf({ maxDurationMs: 300_000 }, { elapsedMs: 300_000 })).toBe("went on");
    expect(await exitOf({ maxDurationMs: 300_000 }, { elapsedMs: 300_001 })).toBe("timeout");
  });

  it("stops once so many tools were called [CE-13]", async () => {
    expect(await exitOf({ maxToolCalls: 100 }, { toolCallsTotal: 99 })).toBe("went on");
    expect(await exitOf({ maxToolCalls: 100 }, { toolCallsTotal: 100 })).toBe("budget-exhausted");
  });
});
