import { type BudgetLedger, type BudgetScope, LogError, type Usd, usd } from "@keelson/protocol";
import { describe, expect, it } from "vitest";

const scope = (id: string, maxCost: string): BudgetScope => ({ id, maxCost: usd(maxCost) });
const RUN = scope("run", "1");

/** The tests that every `BudgetLedger` must pass. `create` returns one without reservations. */
export function describeBudgetLedger(name: string, create: () => BudgetLedger | Promise<BudgetLedger>): void {
  describe(`${name} keeps the BudgetLedger contract`, () => {
    it("[LA-07] counts money exactly, to the last pico-dollar", async () => {
      const ledger = await create();
      for (const [n, cost] of ["0.1", "0.2", "0.000000000001"].entries()) {
        expect(await ledger.reserve(`k${n}`, [RUN], usd("0.5"))).toEqual({ type: "reserved" });
        await ledger.settle(`k${n}`, usd(cost));
      }
      expect(await ledger.spent("run")).toBe("0.300000000001");
      expect(await ledger.reserve("over", [RUN], usd("0.7"))).toEqual({
        type: "refused",
        scope: "run",
        limit: "1",
        spent: "0.300000000001",
      });
      expect(await ledger.reserve("exact", [RUN], usd("0.699999999999"))).toEqual({ type: "reserved" });
      expect(await ledger.spent("unknown")).toBe("0");
    });

    it("asks to wait while only open reservations stand in the way, and refuses when spent money does", async () => {
      const ledger = await create();
      await ledger.reserve("a", [RUN], usd("0.7"));
      expect(await ledger.reserve("b", [RUN], usd("0.4"))).toEqual({ type: "wait", scope: "run", available: "0.3" });
      expect(await ledger.reserve("b", [RUN], usd("0.3"))).toEqual({ type: "reserved" });
      await ledger.settle("a", usd("0.2"));
      expect(await ledger.reserve("c", [RUN], usd("0.6"))).toEqual({ type: "wait", scope: "run", available: "0.5" });
      expect(await ledger.reserve("c", [RUN], usd("0.9"))).toEqual({ type: "refused", scope: "run", limit: "1", spent: "0.2" });
      await ledger.release("b");
      expect(await ledger.reserve("c", [RUN], usd("0.8"))).toEqual({ type: "reserved" });
    });

    it("reserves in all scopes or in none", async () => {
      const ledger = await create();
      const user = scope("user", "0.5");
      await ledger.reserve("other", [user], usd("0.4"));
      expect(await ledger.reserve("a", [RUN, user], usd("0.3"))).toEqual({ type: "wait", scope: "user", available: "0.1" });
      expect(await ledger.reserve("b", [RUN], usd("1"))).toEqual({ type: "reserved" });
      await ledger.release("b");
      await ledger.settle("other", usd("0.4"));
      // The run would have to wait, too, yet waiting could not help the user's limit.
      await ledger.reserve("c", [RUN], usd("0.9"));
      expect(await ledger.reserve("a", [RUN, user], usd("0.3"))).toMatchObject({ type: "refused", scope: "user" });
      expect(await ledger.reserve("d", [RUN, user], usd("0.1"))).toEqual({ type: "reserved" });
      await ledger.settle("d", usd("0.05"));
      expect([await ledger.spent("run"), await ledger.spent("user")]).toEqual(["0.05", "0.45"]);
    });

    it("lets a settlement cost more than was reserved, and then refuses whatever comes", async () => {
      const ledger = await create();
      await ledger.reserve("a", [RUN], usd("0.5"));
      await ledger.settle("a", usd("1.5"));
      expect(await ledger.spent("run")).toBe("1.5");
      expect(await ledger.reserve("b", [RUN], usd("0.000001"))).toEqual({ type: "refused", scope: "run", limit: "1", spent: "1.5" });
    });

    it("does every act once, however often its key is repeated", async () => {
      const ledger = await create();
      for (let n = 0; n < 2; n++) expect(await ledger.reserve("a", [RUN], usd("0.6"))).toEqual({ type: "reserved" });
      expect(await ledger.reserve("b", [RUN], usd("0.4"))).toEqual({ type: "reserved" });
      for (let n = 0; n < 2; n++) await ledger.settle("a", usd("0.1"));
      expect(await ledger.reserve("a", [RUN], usd("0.6"))).toEqual({ type: "reserved" });
      for (let n = 0; n < 2; n++) await ledger.release("b");
      await ledger.release("a");
      await ledger.release("never");
      expect(await ledger.spent("run")).toBe("0.1");
      expect(await ledger.reserve("rest", [RUN], usd("0.9"))).toEqual({ type: "reserved" });
    });

    it("reserves a released key anew", async () => {
      const ledger = await create();
      await ledger.reserve("a", [RUN], usd("1"));
      await ledger.release("a");
      await ledger.reserve("a", [RUN], usd("0.8"));
      expect(await ledger.reserve("b", [RUN], usd("0.4"))).toMatchObject({ type: "wait", available: "0.2" });
    });

    it("counts a scope that is named twice once, at its lower limit", async () => {
      const ledger = await create();
      expect(await ledger.reserve("a", [RUN, scope("run", "0.5")], usd("0.6"))).toMatchObject({ type: "refused", limit: "0.5" });
      expect(await ledger.reserve("a", [RUN, RUN], usd("0.6"))).toEqual({ type: "reserved" });
      await ledger.settle("a", usd("0.6"));
      expect(await ledger.spent("run")).toBe("0.6");
    });

    it("rejects a key that is used for something else, and amounts that are none", async () => {
      const ledger = await create();
      await ledger.reserve("a", [RUN], usd("0.5"));
      expect(await kindOf(ledger.reserve("a", [RUN], usd("0.4")))).toBe("invalid-input");
      expect(await kindOf(ledger.reserve("a", [scope("other", "1")], usd("0.5")))).toBe("invalid-input");
      expect(await kindOf(ledger.settle("unknown", usd("0.1")))).toBe("not-found");
      await ledger.settle("a", usd("0.5"));
      expect(await kindOf(ledger.settle("a", usd("0.4")))).toBe("invalid-input");
      for (const amount of ["-1", "much", "NaN", "1e3"]) {
        expect(await kindOf(ledger.reserve("b", [RUN], amount as Usd))).toBe("invalid-input");
        expect(await kindOf(ledger.reserve("b", [{ id: "run", maxCost: amount as Usd }], usd("0")))).toBe("invalid-input");
      }
      expect(await ledger.spent("run")).toBe("0.5");
    });

    it("wakes whoever waits for one of its scopes when a reservation there settles or is released", async () => {
      const ledger = await create();
      const { signal } = new AbortController();
      await ledger.reserve("a", [RUN, scope("user", "9")], usd("0.5"));
      await ledger.reserve("b", [scope("elsewhere", "1")], usd("0.5"));
      const settled = ledger.changed(["user", "unknown"], { signal });
      const elsewhere = ledger.changed(["elsewhere"], { signal });
      let woken = false;
      void elsewhere.then(() => (woken = true));
      await ledger.settle("a", usd("0.1"));
      await settled;
      expect(woken).toBe(false);
      await ledger.release("b");
      await elsewhere;
    });

    it("wakes at once when nothing is open, and when the signal fires", async () => {
      const ledger = await create();
      await ledger.changed(["run"], { signal: new AbortController().signal });
      await ledger.reserve("a", [RUN], usd("0.5"));
      await ledger.changed(["run"], { signal: AbortSignal.abort() });
      const stop = new AbortController();
      const waiting = ledger.changed(["run"], { signal: stop.signal });
      stop.abort();
      await waiting;
    });

    it("never lets a crowd reserve more than a limit, and lets everybody through in the end", async () => {
      const ledger = await create();
      const { signal } = new AbortController();
      let reserved = 0;
      let most = 0;
      const worker = async (n: number): Promise<void> => {
        while ((await ledger.reserve(`w${n}`, [RUN], usd("0.3"))).type === "wait") await ledger.changed(["run"], { signal });
        reserved += 1;
        most = Math.max(most, reserved);
        await Promise.resolve();
        reserved -= 1;
        if (n % 2 === 0) await ledger.settle(`w${n}`, usd("0.01"));
        else await ledger.release(`w${n}`);
      };
      await Promise.all(Array.from({ length: 30 }, (_, n) => worker(n)));
      expect(most).toBeLessThanOrEqual(3);
      expect(await ledger.spent("run")).toBe("0.15");
    });
  });
}

async function kindOf(action: Promise<unknown>): Promise<string> {
  const error = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!LogError.is(error)) throw new Error(`A LogError was expected, not ${String(error)}.`);
  return error.failure.kind;
}
