import { getEventListeners } from "node:events";
import { addUsd, type Usd, usd, ZERO_USD } from "@keelson/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { describeBudgetLedger } from "../../testing/budget-ledger-contract.ts";
import { REMEMBERED_RETIRED, REMEMBERED_SETTLEMENTS } from "../kit/budget-ledger-terms.ts";
import { createMemoryBudgetLedger } from "./memory-budget-ledger.ts";

describeBudgetLedger("createMemoryBudgetLedger", (options) => createMemoryBudgetLedger(options));

it("goes on from what was spent before", async () => {
  const ledger = createMemoryBudgetLedger({ spent: { run: usd("0.9") } });
  expect(await ledger.spent("run")).toBe("0.9");
  expect(await ledger.reserve("a", [{ id: "run", maxCost: usd("1") }], usd("0.2"))).toMatchObject({ type: "refused", spent: "0.9" });
});

it("forgets settlements and retired scopes that are long gone, and nothing that counts", async () => {
  const ledger = createMemoryBudgetLedger();
  const all = { id: "all", maxCost: usd("1000000") };
  await ledger.reserve("held", [{ id: "run0" }], usd("1"));
  for (let n = 0; n <= 2 * REMEMBERED_RETIRED; n++) {
    await ledger.reserve(`k${n}`, [all, { id: `run${n}` }], usd("2"));
    await ledger.settle(`k${n}`, usd("1"));
    await ledger.retire(`run${n}`);
  }
  const last = 2 * REMEMBERED_RETIRED;
  expect(await ledger.spent("all")).toBe(String(last + 1));
  // Something is still open in the first.
  expect([await ledger.spent("run0"), await ledger.spent("run1"), await ledger.spent(`run${last}`)]).toEqual(["1", "0", "1"]);
  expect(await ledger.reserve(`k${last - REMEMBERED_SETTLEMENTS + 1}`, [all], usd("9999999"))).toEqual({ type: "reserved" });
  expect(await ledger.reserve("k1", [all], usd("9999999"))).toMatchObject({ type: "refused" });
});

it("leaves no listener behind on a signal that never fires", async () => {
  const ledger = createMemoryBudgetLedger();
  const { signal } = new AbortController();
  const scopes = [
    { id: "a", maxCost: usd("1") },
    { id: "b", maxCost: usd("1") },
  ];
  for (let n = 0; n < 50; n++) {
    await ledger.reserve(`k${n}`, scopes, usd("0.01"));
    const changed = ledger.changed(["a", "b"], { signal });
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await ledger.release(`k${n}`);
    await changed;
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  }
});

it("[LA-07] keeps spent plus reserved within every limit, and spent equal to what was settled, whatever the order of calls", async () => {
  const limits: Record<string, Usd> = { a: usd("1"), b: usd("0.7"), c: usd("0.25") };
  const scopeNames = fc.subarray(["a", "b", "c"], { minLength: 1 });
  const amount = fc.integer({ min: 0, max: 600 }).map((cents) => usd(cents / 1000));
  const act = fc.oneof(
    fc.record({ type: fc.constant("reserve" as const), names: scopeNames, amount }),
    fc.record({ type: fc.constant("settle" as const), pick: fc.nat(), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
    fc.record({ type: fc.constant("release" as const), pick: fc.nat() }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 60 }), async (acts) => {
      const ledger = createMemoryBudgetLedger();
      const open = new Map<string, { names: readonly string[]; thousandths: number }>();
      const spent: Record<string, number> = { a: 0, b: 0, c: 0 };
      const held = (name: string): number =>
        [...open.values()].reduce((sum, one) => sum + (one.names.includes(name) ? one.thousandths : 0), 0);
      for (const [n, one] of acts.entries()) {
        const key = one.type === "reserve" ? `k${n}` : [...open.keys()][one.pick % Math.max(1, open.size)];
        if (one.type === "reserve") {
          const thousandths = Math.round(Number(one.amount) * 1000);
          const isRefused = one.names.some((name) => (spent[name] as number) + thousandths > Number(limits[name]) * 1000);
          const mustWait = one.names.some((name) => (spent[name] as number) + held(name) + thousandths > Number(limits[name]) * 1000);
          const reservation = await ledger.reserve(
            key as string,
            one.names.map((id) => ({ id, maxCost: limits[id] as Usd })),
            one.amount,
          );
          expect(reservation.type).toBe(isRefused ? "refused" : mustWait ? "wait" : "reserved");
          if (reservation.type === "reserved") open.set(key as string, { names: one.names, thousandths });
        } else if (key !== undefined) {
          const { names, thousandths } = open.get(key) as { names: readonly string[]; thousandths: number };
          open.delete(key);
          if (one.type === "release") await ledger.release(key);
          else {
            const cost = Math.floor(thousandths * one.share);
            await ledger.settle(key, usd(cost / 1000));
            for (const name of names) spent[name] = (spent[name] as number) + cost;
          }
        }
        for (const name of ["a", "b", "c"]) {
          expect(await ledger.spent(name)).toBe(usd((spent[name] as number) / 1000));
          expect((spent[name] as number) + held(name)).toBeLessThanOrEqual(Number(limits[name]) * 1000);
        }
      }
      expect(addUsd(await ledger.spent("a"), ZERO_USD)).toBe(await ledger.spent("a"));
    }),
    { numRuns: 100 },
  );
});
