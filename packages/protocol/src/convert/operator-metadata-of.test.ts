import { expect, it } from "vitest";
import { UNKNOWN_USAGE } from "../usage.ts";
import { usd } from "../usd.ts";
import { operatorMetadataOf } from "./operator-metadata-of.ts";

it("gives every field a value, zero where nobody knows, and names those [OP-11, OP-12]", () => {
  const subDispatches = [{ name: "bash", durationMs: 5, success: true }];
  const usage = { ...UNKNOWN_USAGE, inputTokens: 10, outputTokens: 0 };
  expect(operatorMetadataOf({ usage, cost: usd("0.5"), turns: 2, durationMs: 7, subDispatches })).toEqual({
    tokensIn: 10,
    tokensOut: 0,
    cost: "0.5",
    turnsUsed: 2,
    subDispatches,
    durationMs: 7,
    untracked: [],
  });
  expect(operatorMetadataOf({ usage: UNKNOWN_USAGE, cost: null, turns: 0, durationMs: null })).toEqual({
    tokensIn: 0,
    tokensOut: 0,
    cost: "0",
    turnsUsed: 0,
    subDispatches: [],
    durationMs: 0,
    untracked: ["tokensIn", "tokensOut", "cost", "durationMs"],
  });
});
