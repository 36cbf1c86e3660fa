import { type BudgetLedger, type BudgetScope, LogError, type Usd, usd } from "@keelson/protocol";
import { describe, expect, it } from "vitest";

const scope = (id: string, maxCost: string): BudgetScope => ({ id, maxCost: usd(maxCost) });
const RUN = scope("run", "1");

/**
 * Makes a ledger without reservations, by this clock (Unix ms) and for these owners. In one process several may be asked for at
 * once, each with its own reservations.
 */
export type CreateBudgetLedger = (options: { now(): number; isDeadOwner(owner: string): boolean }) => BudgetLedger | Promise<BudgetLedger>;

/** The tests that every `BudgetLedger` must pass. */
export function describeBudgetLedger(name: string, createLedger: CreateBudgetLedger): void {
  const create = async (options: Partial<Parameters<CreateBudgetLedger>[0]> = {}): Promise<BudgetLedger> =>
    createLedger({ now: () => 1_700_000_000_000, isDeadOwner: () => false, ...options });

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

    it("[LA-07] bounds tokens, turns and calls as it bounds money, each by itself and all at once", async () => {
      const ledger = await create();
      const wide: BudgetScope = { id: "run", maxCost: usd("1"), maxTokens: 1000, maxTurns: 2, maxToolCalls: 3, maxModelCalls: 4 };
      const call = { cost: usd("0.1"), tokens: 600, modelCalls: 1 };
      expect(await ledger.reserve("a", [wide], call)).toEqual({ type: "reserved" });
      expect(await ledger.reserve("b", [wide], call)).toEqual({ type: "wait", scope: "run", unit: "tokens", available: 400 });
      await ledger.settle("a", { cost: usd("0.05"), tokens: 500, modelCalls: 1 });
      expect(await ledger.reserve("b", [wide], call)).toEqual({ type: "refused", scope: "run", unit: "tokens", limit: 1000, spent: 500 });
      for (const key of ["t1", "t2"]) {
        expect(await ledger.reserve(key, [wide], { turns: 1 })).toEqual({ type: "reserved" });
        await ledger.settle(key, { turns: 1 });
      }
      expect(await ledger.reserve("t3", [wide], { turns: 1 })).toEqual({
        type: "refused",
        scope: "run",
        unit: "turns",
        limit: 2,
        spent: 2,
      });
      expect(await ledger.reserve("c", [wide], { toolCalls: 3 })).toEqual({ type: "reserved" });
      expect(await ledger.reserve("d", [wide], { toolCalls: 1 })).toEqual({ type: "wait", scope: "run", unit: "tool-calls", available: 0 });
      expect(await ledger.reserve("e", [wide], { modelCalls: 4 })).toMatchObject({ type: "refused", unit: "model-calls" });
      expect(await ledger.used("run")).toEqual({ cost: "0.05", tokens: 500, turns: 2, toolCalls: 0, modelCalls: 1 });
      expect(await ledger.used("unknown")).toEqual({ cost: "0", tokens: 0, turns: 0, toolCalls: 0, modelCalls: 0 });
    });

    it("counts for a scope what it does not limit, and takes no notice of limits of what is not asked for", async () => {
      const ledger = await create();
      await ledger.reserve("a", [{ id: "all" }], { cost: usd("5"), tokens: 7 });
      await ledger.settle("a", { cost: usd("5"), tokens: 7 });
      expect(await ledger.used("all")).toMatchObject({ cost: "5", tokens: 7 });
      // More than that is spent, but a turn is none of it.
      expect(await ledger.reserve("b", [{ id: "all", maxTokens: 5, maxTurns: 1 }], { turns: 1 })).toEqual({ type: "reserved" });
      expect(await ledger.reserve("c", [{ id: "all", maxTokens: 5 }], { tokens: 0 })).toMatchObject({ type: "refused", unit: "tokens" });
    });

    it("rejects counts that are none", async () => {
      const ledger = await create();
      for (const tokens of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        expect(await kindOf(ledger.reserve("a", [RUN], { tokens }))).toBe("invalid-input");
        expect(await kindOf(ledger.reserve("a", [{ id: "run", maxTokens: tokens }], usd("0")))).toBe("invalid-input");
      }
      await ledger.reserve("a", [RUN], { tokens: 1 });
      expect(await kindOf(ledger.settle("a", { tokens: 0.5 }))).toBe("invalid-input");
      expect(await kindOf(ledger.reserve("a", [RUN], { tokens: 2 }))).toBe("invalid-input");
    });

    it("presumes spent, as a whole, what a dead owner left open; a later settlement replaces that by what it was", async () => {
      const dead = new Set<string>();
      const ledger = await create({ isDeadOwner: (owner) => dead.has(owner) });
      await ledger.reserve("a", [RUN, scope("user", "9")], usd("0.7"), { owner: "p1" });
      expect(await ledger.reserve("b", [RUN], usd("0.4"), { owner: "p2" })).toMatchObject({ type: "wait", available: "0.3" });
      dead.add("p1");
      expect(await ledger.reserve("b", [RUN], usd("0.4"), { owner: "p2" })).toMatchObject({ type: "refused", spent: "0.7" });
      expect(await ledger.reserve("c", [RUN], usd("0.3"), { owner: "p2" })).toEqual({ type: "reserved" });
      expect([await ledger.spent("run"), await ledger.spent("user")]).toEqual(["0.7", "0.7"]);
      await ledger.settle("a", usd("0.2"));
      await ledger.settle("a", usd("0.2"));
      expect(await kindOf(ledger.settle("a", usd("0.7")))).toBe("invalid-input");
      expect([await ledger.spent("run"), await ledger.spent("user")]).toEqual(["0.2", "0.2"]);
      expect(await ledger.reserve("b", [RUN], usd("0.5"), { owner: "p2" })).toEqual({ type: "reserved" });
    });

    it("presumes spent what is open for longer than any call should last, and settles who comes back all the same", async () => {
      let now = 1_700_000_000_000;
      const ledger = await create({ now: () => now });
      for (const key of ["settled", "released", "taken up"]) await ledger.reserve(key, [RUN], usd("0.3"));
      now += 60 * 60_000 - 1;
      expect(await ledger.reserve("b", [RUN], usd("0.4"))).toMatchObject({ type: "wait" });
      now += 1;
      expect(await ledger.reserve("b", [RUN], usd("0.4"))).toMatchObject({ type: "refused", spent: "0.9" });
      await ledger.settle("settled", usd("0.1"));
      await ledger.release("released");
      expect(await ledger.spent("run")).toBe("0.4");
      expect(await ledger.reserve("taken up", [RUN], usd("0.3"))).toEqual({ type: "reserved" });
      expect(await ledger.spent("run")).toBe("0.1");
      expect(await ledger.reserve("b", [RUN], usd("0.7"))).toMatchObject({ type: "wait", available: "0.6" });
    });

    it("serves those in line in the order of their coming, the small behind the large", async () => {
      const ledger = await create();
      await ledger.reserve("first", [RUN], usd("0.6"));
      expect(await ledger.reserve("large", [RUN], usd("0.9"), { inTurn: true })).toMatchObject({ type: "wait", available: "0.4" });
      // There is room for these, but not before the other has had its turn.
      expect(await ledger.reserve("small", [RUN], usd("0.1"), { inTurn: true })).toEqual({ type: "wait", scope: "run", available: "0" });
      expect(await ledger.reserve("passing", [RUN], usd("0.1"))).toEqual({ type: "wait", scope: "run", available: "0" });
      expect(await ledger.reserve("elsewhere", [scope("other", "1")], usd("0.1"))).toEqual({ type: "reserved" });
      expect(await ledger.reserve("other unit", [{ id: "run", maxTurns: 1 }], { turns: 1 })).toEqual({ type: "reserved" });
      await ledger.settle("first", usd("0"));
      expect(await ledger.reserve("small", [RUN], usd("0.1"), { inTurn: true })).toMatchObject({ type: "wait", available: "0" });
      // Another amount under the same key keeps the place.
      expect(await ledger.reserve("large", [RUN], usd("0.8"), { inTurn: true })).toEqual({ type: "reserved" });
      expect(await ledger.reserve("small", [RUN], usd("0.1"), { inTurn: true })).toEqual({ type: "reserved" });
      expect(await ledger.reserve("passing", [RUN], usd("0.1"))).toEqual({ type: "reserved" });
    });

    it("lets nobody wait for a place that was given up, or whose owner is dead", async () => {
      const dead = new Set<string>();
      const ledger = await create({ isDeadOwner: (owner) => dead.has(owner) });
      await ledger.reserve("first", [RUN], usd("0.6"), { owner: "p1" });
      for (const [key, owner] of [
        ["gives up", "p1"],
        ["dies", "p2"],
      ] as const)
        expect(await ledger.reserve(key, [RUN], usd("0.9"), { owner, inTurn: true })).toMatchObject({ type: "wait" });
      await ledger.release("gives up");
      expect(await ledger.reserve("small", [RUN], usd("0.1"), { owner: "p1" })).toMatchObject({ type: "wait" });
      dead.add("p2");
      expect(await ledger.reserve("small", [RUN], usd("0.1"), { owner: "p1" })).toEqual({ type: "reserved" });
    });

    it("lets no two who fell short in different scopes wait for each other", async () => {
      const ledger = await create();
      const [a, b] = [scope("a", "1"), scope("b", "1")];
      await ledger.reserve("in a", [a], usd("0.5"));
      expect(await ledger.reserve("1", [a, b], usd("0.6"), { inTurn: true })).toMatchObject({ type: "wait", scope: "a" });
      expect(await ledger.reserve("in b", [b], usd("0.5"))).toEqual({ type: "reserved" });
      expect(await ledger.reserve("2", [b, a], usd("0.6"), { inTurn: true })).toMatchObject({ type: "wait", scope: "b" });
      await ledger.settle("in a", usd("0"));
      // It comes to the line of b behind 2, which stands behind it in the line of a.
      expect(await ledger.reserve("1", [a, b], usd("0.6"), { inTurn: true })).toMatchObject({ type: "wait", scope: "b" });
      await ledger.settle("in b", usd("0"));
      await ledger.changed(["a", "b"], { signal: new AbortController().signal, key: "1" });
      expect(await ledger.reserve("2", [b, a], usd("0.6"), { inTurn: true })).toMatchObject({ type: "wait" });
      expect(await ledger.reserve("1", [a, b], usd("0.6"), { inTurn: true })).toEqual({ type: "reserved" });
      await ledger.settle("1", usd("0"));
      expect(await ledger.reserve("2", [b, a], usd("0.6"), { inTurn: true })).toEqual({ type: "reserved" });
    });

    it("wakes of those in line only the one whose turn it is, also when its turn came before it began to wait", async () => {
      const ledger = await create();
      const { signal } = new AbortController();
      await ledger.reserve("first", [RUN], usd("1"));
      const woken: string[] = [];
      const keys = Array.from({ length: 20 }, (_, n) => `w${n}`);
      for (const key of keys) await ledger.reserve(key, [RUN], usd("1"), { inTurn: true });
      const waits = keys.map((key) => ledger.changed(["run"], { signal, key }).then(() => woken.push(key)));
      await ledger.settle("first", usd("0"));
      await waits[0];
      expect(woken).toEqual(["w0"]);
      expect(await ledger.reserve("w0", [RUN], usd("1"), { inTurn: true })).toEqual({ type: "reserved" });
      await waits[1];
      // It was told that it is the first now; there is no room yet.
      expect(await ledger.reserve("w1", [RUN], usd("1"), { inTurn: true })).toMatchObject({ type: "wait" });
      await ledger.settle("w0", usd("0"));
      await ledger.changed(["run"], { signal, key: "w1" });
      expect(woken).toEqual(["w0", "w1"]);
      for (const key of keys.slice(1)) await ledger.release(key);
      await Promise.all(waits);
    });

    it("wakes nobody who is first in one line, and behind in another", async () => {
      const ledger = await create();
      const { signal } = new AbortController();
      const [a, b] = [scope("a", "1"), scope("b", "1")];
      await ledger.reserve("in a", [a], usd("1"));
      const inB = Array.from({ length: 10 }, (_, n) => `in b ${n}`);
      for (const key of inB) await ledger.reserve(key, [b], usd("0.05"));
      await ledger.reserve("1", [a], usd("1"), { inTurn: true });
      await ledger.reserve("2", [a, b], usd("1"), { inTurn: true });
      let woken = false;
      const wait = ledger.changed(["a", "b"], { signal, key: "2" }).then(() => (woken = true));
      // Began later. Which of the settlements is the first that it sees, a ledger on a server does not say.
      const later = ledger.changed(["b"], { signal });
      for (const key of inB) await ledger.settle(key, usd("0"));
      await later;
      expect(woken).toBe(false);
      await ledger.release("1");
      await ledger.settle("in a", usd("0"));
      await wait;
      expect(await ledger.reserve("2", [a, b], usd("1"), { inTurn: true })).toEqual({ type: "reserved" });
    });

    it("lets everybody in line through in the order of their coming, with as many wakings", async () => {
      const ledger = await create();
      const { signal } = new AbortController();
      const order: number[] = [];
      let tries = 0;
      const worker = async (n: number): Promise<void> => {
        for (;;) {
          tries += 1;
          if ((await ledger.reserve(`w${n}`, [RUN], usd("0.3"), { inTurn: true })).type === "reserved") break;
          await ledger.changed(["run"], { signal, key: `w${n}` });
        }
        order.push(n);
        await Promise.resolve();
        await ledger.settle(`w${n}`, usd("0.001"));
      };
      await Promise.all(Array.from({ length: 40 }, (_, n) => worker(n)));
      expect(order).toEqual(Array.from({ length: 40 }, (_, n) => n));
      expect(tries).toBeLessThan(4 * 40);
      expect(await ledger.spent("run")).toBe("0.04");
    });

    it("takes a key that is refused out of the line, so that those behind it may go on", async () => {
      const ledger = await create();
      await ledger.reserve("open", [RUN], usd("0.9"));
      expect(await ledger.reserve("first", [RUN], usd("0.5"), { inTurn: true })).toMatchObject({ type: "wait" });
      expect(await ledger.reserve("next", [RUN], usd("0.1"), { inTurn: true })).toMatchObject({ type: "wait" });
      await ledger.settle("open", usd("0.8"));
      expect(await ledger.reserve("first", [RUN], usd("0.5"), { inTurn: true })).toMatchObject({ type: "refused" });
      expect(await ledger.reserve("next", [RUN], usd("0.1"), { inTurn: true })).toEqual({ type: "reserved" });
    });

    it("keeps the place of a key that waits for longer than any call should last", async () => {
      let clock = 1_700_000_000_000;
      const ledger = await create({ now: () => clock });
      await ledger.reserve("open", [RUN], usd("1"));
      await ledger.reserve("first", [RUN], usd("0.5"), { inTurn: true });
      const turn = ledger.changed(["run"], { signal: new AbortController().signal, key: "first" });
      clock += 24 * 60 * 60_000;
      await ledger.reserve("open", [RUN], usd("1"));
      await ledger.reserve("next", [RUN], usd("0.6"), { inTurn: true });
      await ledger.settle("open", usd("0"));
      await turn;
      expect(await ledger.reserve("first", [RUN], usd("0.5"), { inTurn: true })).toEqual({ type: "reserved" });
    });

    it("remembers a retired scope for a while, and counts what comes late", async () => {
      const ledger = await create();
      await ledger.reserve("a", [RUN], usd("0.5"));
      await ledger.settle("a", usd("0.5"));
      await ledger.reserve("b", [RUN], usd("0.1"));
      await ledger.retire("run");
      await ledger.retire("unknown");
      await ledger.settle("b", usd("0.1"));
      expect(await ledger.spent("run")).toBe("0.6");
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
