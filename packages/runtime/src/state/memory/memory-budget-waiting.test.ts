import { type BudgetScope, LogError, usd } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createMemoryBudgetLedger } from "./memory-budget-ledger.ts";

const limited = (id: string): BudgetScope => ({ id, maxCost: usd("1") });
const RUN = limited("run");
const { signal } = new AbortController();
const now = (): number => 1_700_000_000_000;

/** Whether it is over by now, without anything that happens later. */
async function isOver(wait: Promise<void>): Promise<boolean> {
  let over = false;
  void wait.then(() => (over = true));
  await new Promise((resolve) => setImmediate(resolve));
  return over;
}

/** Looks when it is told to, and says how often it was started and stopped. */
function manualPoll() {
  const ticks = new Set<() => void>();
  const seen = { started: 0, stopped: 0, everyMs: 0 };
  return {
    seen,
    tick: () => ticks.forEach((look) => look()),
    poll: (look: () => void, everyMs: number) => {
      ticks.add(look);
      seen.started++;
      seen.everyMs = everyMs;
      return () => {
        ticks.delete(look);
        seen.stopped++;
      };
    },
  };
}

describe("waiting for a change", () => {
  it("is over at once where nothing is open: settled, presumed spent, or settled after that", async () => {
    const dead = new Set<string>();
    const ledger = createMemoryBudgetLedger({ now, isDeadOwner: (owner) => dead.has(owner) });
    await ledger.reserve("a", [RUN], usd("0.2"), { owner: "p" });
    expect(await isOver(ledger.changed(["run"], { signal }))).toBe(false);
    await ledger.settle("a", usd("0.2"));
    expect(await isOver(ledger.changed(["run"], { signal }))).toBe(true);
    await ledger.reserve("b", [RUN], usd("0.8"), { owner: "p" });
    dead.add("p");
    expect(await ledger.reserve("c", [RUN], usd("0.8"))).toMatchObject({ type: "refused" });
    expect(await isOver(ledger.changed(["run"], { signal }))).toBe(true);
    await ledger.settle("b", usd("0.1"));
    expect(await isOver(ledger.changed(["run"], { signal }))).toBe(true);
    expect(await ledger.spent("run")).toBe("0.3");
  });

  it("goes on where a reservation was presumed spent and taken up again, until that is settled for what it was", async () => {
    const dead = new Set(["p"]);
    const ledger = createMemoryBudgetLedger({ now, isDeadOwner: (owner) => dead.has(owner) });
    await ledger.reserve("a", [RUN], usd("0.5"), { owner: "p" });
    expect(await ledger.reserve("b", [RUN], usd("0.6"))).toMatchObject({ type: "refused" });
    dead.clear();
    expect(await ledger.reserve("a", [RUN], usd("0.5"), { owner: "p" })).toEqual({ type: "reserved" });
    const wait = ledger.changed(["run"], { signal });
    expect(await isOver(wait)).toBe(false);
    await ledger.settle("a", usd("0.2"));
    await wait;
    expect(await isOver(ledger.changed(["run"], { signal }))).toBe(true);
    expect(await ledger.spent("run")).toBe("0.2");
    expect(await ledger.reserve("b", [RUN], usd("0.8"))).toEqual({ type: "reserved" });
  });

  it("leaves nobody in the line who was refused for what a dead owner is presumed to have spent", async () => {
    const ledger = createMemoryBudgetLedger({ now, isDeadOwner: (owner) => owner === "dead" });
    await ledger.reserve("a", [RUN], usd("0.6"), { owner: "dead" });
    expect(await ledger.reserve("b", [RUN], usd("0.5"), { inTurn: true })).toMatchObject({ type: "refused" });
    expect(await ledger.reserve("c", [RUN], usd("0.3"))).toEqual({ type: "reserved" });
  });

  it("goes on without a place while others stand in line, though nothing is open", async () => {
    const ledger = createMemoryBudgetLedger({ now });
    await ledger.reserve("first", [RUN], usd("1"));
    await ledger.reserve("next", [RUN], usd("1"), { inTurn: true });
    await ledger.settle("first", usd("0"));
    const wait = ledger.changed(["run"], { signal });
    expect(await isOver(wait)).toBe(false);
    await ledger.release("next");
    await wait;
    expect(await isOver(ledger.changed(["run"], { signal }))).toBe(true);
  });

  it("in line is over at once where the turn came before it began, and only there", async () => {
    const ledger = createMemoryBudgetLedger({ now });
    for (const key of ["one", "other"]) await ledger.reserve(key, [RUN], usd("0.5"));
    for (const key of ["next", "last"]) await ledger.reserve(key, [RUN], usd("0.5"), { inTurn: true });
    const early = ledger.changed(["run"], { signal, key: "next" });
    expect(await isOver(early)).toBe(false);
    await ledger.settle("one", usd("0"));
    await early;
    expect(await isOver(ledger.changed(["run"], { signal, key: "next" }))).toBe(true);
    const last = ledger.changed(["run"], { signal, key: "last" });
    await ledger.settle("other", usd("0"));
    expect(await isOver(last)).toBe(false);
    expect(await ledger.reserve("next", [RUN], usd("0.5"), { inTurn: true })).toEqual({ type: "reserved" });
    await last;
  });

  it("passes by those who came later, also in a line they came to first", async () => {
    const [a, b] = [limited("a"), limited("b")];
    const ledger = createMemoryBudgetLedger({ now });
    await ledger.reserve("in a", [a], usd("0.5"));
    await ledger.reserve("in b", [b], usd("0.5"));
    expect(await ledger.reserve("1", [a], usd("0.6"), { inTurn: true })).toMatchObject({ type: "wait" });
    expect(await ledger.reserve("2", [b], usd("0.6"), { inTurn: true })).toMatchObject({ type: "wait" });
    await ledger.settle("in a", usd("0"));
    expect(await ledger.reserve("1", [a, b], usd("0.4"), { inTurn: true })).toEqual({ type: "reserved" });
  });
});

describe("looking after owners", () => {
  it("begins with the first who waits and ends with the last, once each time", async () => {
    const { poll, seen } = manualPoll();
    const ledger = createMemoryBudgetLedger({ now, poll, pollMs: 250 });
    for (const id of ["a", "b"]) await ledger.reserve(`in ${id}`, [limited(id)], usd("1"));
    expect(seen.started).toBe(0);
    const inA = ledger.changed(["a"], { signal });
    const inB = ledger.changed(["b"], { signal });
    expect(seen).toEqual({ started: 1, stopped: 0, everyMs: 250 });
    await ledger.release("in a");
    await inA;
    expect(seen).toEqual({ started: 1, stopped: 0, everyMs: 250 });
    // Who has been woken is forgotten: what happens in its scope later is no business of those who still wait.
    await ledger.reserve("in a", [limited("a")], usd("1"));
    await ledger.release("in a");
    expect(seen.stopped).toBe(0);
    await ledger.release("in b");
    await inB;
    expect(seen).toEqual({ started: 1, stopped: 1, everyMs: 250 });
    await ledger.reserve("in b", [limited("b")], usd("1"));
    const again = ledger.changed(["b"], { signal });
    expect(seen).toEqual({ started: 2, stopped: 1, everyMs: 250 });
    await ledger.release("in b");
    await again;
    expect(seen).toEqual({ started: 2, stopped: 2, everyMs: 250 });
  });

  it("counts who waits in a line once, however often its place is woken", async () => {
    const { poll, seen } = manualPoll();
    const ledger = createMemoryBudgetLedger({ now, poll });
    for (const id of ["a", "b"]) await ledger.reserve(`in ${id}`, [limited(id)], usd("1"));
    await ledger.reserve("next", [limited("a")], usd("1"), { inTurn: true });
    const inA = ledger.changed(["a"], { signal, key: "next" });
    const inB = ledger.changed(["b"], { signal });
    await ledger.release("in a");
    await inA;
    await ledger.release("next");
    expect(seen).toMatchObject({ started: 1, stopped: 0 });
    await ledger.release("in b");
    await inB;
    expect(seen).toMatchObject({ started: 1, stopped: 1 });
  });

  it("wakes those who wait for what a dead owner left open, and asks about each owner once", async () => {
    const { poll, tick } = manualPoll();
    const dead = new Set<string>();
    const asked: string[] = [];
    const isDeadOwner = (owner: string): boolean => {
      asked.push(owner);
      return dead.has(owner);
    };
    const ledger = createMemoryBudgetLedger({ now, poll, isDeadOwner });
    for (const key of ["1", "2", "3"]) await ledger.reserve(key, [RUN], usd("0.2"), { owner: "p" });
    const wait = ledger.changed(["run"], { signal });
    tick();
    expect(await isOver(wait)).toBe(false);
    expect(asked).toEqual(["p"]);
    dead.add("p");
    tick();
    await wait;
    expect(await ledger.spent("run")).toBe("0.6");
  });
});

describe("a ledger in memory", () => {
  it("has an id that no other has", () => {
    const [one, other] = [createMemoryBudgetLedger().id, createMemoryBudgetLedger().id];
    expect(one).toMatch(/^memory\/[0-9a-f-]{36}$/);
    expect(other).not.toBe(one);
  });

  it("names what it can't take: the spent amount, the reservation, the settlement", async () => {
    const said = (error: unknown): unknown => (LogError.is(error, "invalid-input") ? error.failure.message : error);
    const wrong = "-1" as never;
    const ledger = createMemoryBudgetLedger();
    expect(await ledger.reserve("k", [RUN], wrong).catch(said)).toMatch(/^the amount of reservation "k" must/);
    expect(await ledger.settle("k", wrong).catch(said)).toMatch(/^the settlement of "k" must/);
    expect(() => createMemoryBudgetLedger({ spent: { run: wrong } })).toThrow('the spent amount of "run" must');
  });

  it("takes a key again for the same scopes alone", async () => {
    const ledger = createMemoryBudgetLedger();
    const [a, b, c] = [limited("a"), limited("b"), limited("c")];
    await ledger.reserve("k", [a, b], usd("0.1"));
    expect(await ledger.reserve("k", [b, a], usd("0.1"))).toEqual({ type: "reserved" });
    for (const scopes of [[a], [a, c], [a, b, c]])
      await expect(ledger.reserve("k", scopes, usd("0.1"))).rejects.toThrow(/open with other scopes/);
  });

  it("forgets retired scopes in the end, those where something is open or somebody in line only after that", async () => {
    const ledger = createMemoryBudgetLedger();
    const spend = async (id: string): Promise<void> => {
      await ledger.reserve(id, [{ id }], usd("0.5"));
      await ledger.settle(id, usd("0.5"));
      await ledger.retire(id);
    };
    const others = async (from: string): Promise<void> => {
      for (let n = 0; n < 10_000; n++) await spend(`${from} ${n}`);
    };
    await ledger.reserve("late", [{ id: "busy" }], usd("0.3"));
    await ledger.retire("busy");
    await ledger.reserve("first", [limited("queue")], usd("1"));
    await ledger.reserve("next", [limited("queue")], usd("1"), { inTurn: true });
    await ledger.settle("first", usd("0.4"));
    await ledger.retire("queue");
    await spend("idle");
    await spend("soon");
    expect([await ledger.spent("idle"), await ledger.spent("soon")]).toEqual(["0.5", "0.5"]);
    await others("x");
    expect(await ledger.spent("idle")).toBe("0.5");
    await ledger.retire("idle");
    await others("y");
    expect(await ledger.spent("idle")).toBe("0");
    await ledger.settle("late", usd("0.2"));
    expect([await ledger.spent("busy"), await ledger.spent("queue")]).toEqual(["0.2", "0.4"]);
    await ledger.release("next");
    await others("z");
    await others("zz");
    expect([await ledger.spent("busy"), await ledger.spent("queue")]).toEqual(["0", "0"]);
  });
});
