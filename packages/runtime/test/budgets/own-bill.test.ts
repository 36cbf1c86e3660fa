import { compareUsd, usd } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import type { Run } from "../../src/index.ts";
import { createMemoryBudgetLedger } from "../../src/state/index.ts";
import { randomNumbers } from "../processes/random-numbers.ts";
import { ENDINGS, startBillingVendor, WIRES } from "./billing-vendor.ts";
import { payerOf, PURSE } from "./payer.ts";

const ROUNDS = sampleSize("rounds of a vendor with a bill of its own", { test: 5, ci: 40, soak: 400 });
/** Runs that pay from one purse, at once. */
const PAYERS = 4;
const WIRE_NAMES = Object.keys(WIRES);

/** Until the purse refuses it: a run that fails is followed by another. */
async function payUntilRefused(begin: () => Run<undefined>, random: () => number): Promise<string> {
  for (let run = 0; run < 200; run++) {
    const under = begin();
    // Some are left in the middle of a response.
    if (random() < 0.1) setTimeout(() => void under.abort(), 10 * random());
    if (random() < 0.1) setTimeout(() => void under.steer("Never mind.", { interrupt: true }), 10 * random());
    const { reason } = await under.outcome;
    if (reason !== "error" && reason !== "aborted") return reason;
  }
  return "it never came to an end";
}

describe("a limit of money", () => {
  it(
    "is not passed by what the vendor bills, whatever he reports, hides or leaves out, and however his responses end [LA-07, AG-17]",
    { timeout: ROUNDS * 60_000 },
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const random = randomNumbers(seed * 1000 + round);
        const wire = WIRE_NAMES[round % WIRE_NAMES.length] as string;
        await using vendor = await startBillingVendor(random);
        const ledger = createMemoryBudgetLedger();
        const runner = payerOf(vendor, { wire, name: "alone", ledger });
        const ends = await Promise.all(Array.from({ length: PAYERS }, () => payUntilRefused(() => runner.run("Look around."), random)));
        const spent = await ledger.spent(PURSE.id);
        const figures = { wire, bill: vendor.bill, spent, requests: vendor.requests.length };
        process.stdout.write(`round ${round}: ${JSON.stringify(figures)}\n`);
        expect(ends, vendor.told.join("\n")).toEqual(Array.from({ length: PAYERS }, () => "budget-exhausted"));
        expect(compareUsd(vendor.bill, usd(PURSE.maxCost)), `$${vendor.bill} was billed:\n${vendor.told.join("\n")}`).toBeLessThanOrEqual(
          0,
        );
        expect(compareUsd(vendor.bill, spent), `$${vendor.bill} was billed, $${spent} counted`).toBeLessThanOrEqual(0);
        expect(compareUsd(spent, usd(PURSE.maxCost)), `$${spent} was counted`).toBeLessThanOrEqual(0);
      }
    },
  );

  it.each(ENDINGS)("holds where every response ends like this: %s", { timeout: 60_000 }, async (ending) => {
    for (const wire of WIRE_NAMES) {
      const random = randomNumbers(seed);
      await using vendor = await startBillingVendor(random, [ending]);
      const ledger = createMemoryBudgetLedger();
      const runner = payerOf(vendor, { wire, name: "alone", ledger, budgets: [{ ...PURSE, maxCost: "0.10" }] });
      for (let run = 0; run < 3; run++) await runner.run("Look around.").outcome;
      const spent = await ledger.spent(PURSE.id);
      expect(compareUsd(vendor.bill, usd("0.10")), `${wire}: $${vendor.bill} was billed`).toBeLessThanOrEqual(0);
      expect(compareUsd(vendor.bill, spent), `${wire}: $${vendor.bill} was billed, $${spent} counted`).toBeLessThanOrEqual(0);
      expect(compareUsd(spent, usd("0.10")), `${wire}: $${spent} was counted`).toBeLessThanOrEqual(0);
      // What is refused costs nothing, and is not counted as if it did.
      if (ending === "too many requests" || ending === "overloaded") expect([vendor.bill, spent]).toEqual(["0", "0"]);
    }
  });
});
