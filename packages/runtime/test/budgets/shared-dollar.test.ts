import { addUsd, type BudgetAmount, type BudgetLedger, compareUsd, type Usd, usd, ZERO_USD } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import type { RunOutcome } from "../../src/agent/definition/run.ts";
import { createMemoryBlobStore, createMemoryBudgetLedger, createMemoryEventLog } from "../../src/state/index.ts";
import { pointsUntil } from "../crash/points.ts";
import { openRunner } from "../crash/scenario.ts";
import { sideEffectsInMemory } from "../crash/side-effects.ts";
import { randomNumbers } from "../processes/random-numbers.ts";
import { DOLLAR, spender } from "./spender.ts";

const RUNS = 100;
const TTL_MS = 30_000;
const ONE = usd("1");
/** Of the lives of a run, so many at most end before their time: three crashes in one turn would end the run. */
const MOST_CRASHES = 2;

/** A ledger that is kept account of from outside: what it answers is held against what was really settled. */
function auditedLedger(ledger: BudgetLedger, isDead: (owner: string) => boolean) {
  const open = new Map<string, { readonly amount: Usd; readonly owner: string }>();
  const figures = { settled: ZERO_USD, waits: 0, refusals: 0, faults: [] as string[] };
  const audited: BudgetLedger = {
    ...ledger,
    async reserve(key, scopes, amount, options) {
      const reservation = await ledger.reserve(key, scopes, amount, options);
      const wanted = amount as Usd;
      if (reservation.type === "reserved") open.set(key, { amount: wanted, owner: options?.owner ?? "" });
      if (reservation.type === "wait") figures.waits++;
      if (reservation.type === "refused") {
        figures.refusals++;
        // Nobody is refused for what another has only reserved: what is spent leaves too little, with what the dead left behind.
        let gone = figures.settled;
        for (const held of open.values()) if (isDead(held.owner)) gone = addUsd(gone, held.amount);
        if (compareUsd(addUsd(gone, wanted), ONE) <= 0) figures.faults.push(`${key} was refused $${wanted} when $${gone} was spent`);
      }
      check();
      return reservation;
    },
    async settle(key, actual: Usd | BudgetAmount) {
      await ledger.settle(key, actual);
      if (open.delete(key)) figures.settled = addUsd(figures.settled, actual as Usd);
      check();
    },
    async release(key) {
      await ledger.release(key);
      open.delete(key);
    },
  };
  const check = (): void => {
    let sum: Usd = figures.settled;
    for (const { amount } of open.values()) sum = addUsd(sum, amount);
    if (compareUsd(sum, ONE) > 0) figures.faults.push(`$${sum} is settled and reserved`);
  };
  return { audited, figures };
}

describe("a dollar that a hundred runs share", () => {
  it(
    "is never overspent, is used up while work remains, and no run is refused for what another has only reserved, whoever crashes [LA-07]",
    { timeout: 600_000 },
    async () => {
      const rounds = sampleSize("rounds of a hundred runs", { test: 1, ci: 4, soak: 50 });
      for (let round = 0; round < rounds; round++) {
        const random = randomNumbers(seed * 1000 + round);
        const result = await spendDollar(random, round % 2 === 0 ? 1 : 0.4);
        process.stdout.write(`round ${round}: ${JSON.stringify(result.figures)}\n`);
        expect(result.faults).toEqual([]);
        expect(result.outcomes.map(({ reason }) => reason)).toEqual(Array.from({ length: RUNS }, () => "budget-exhausted"));
        expect(Number(result.figures.billed)).toBeLessThanOrEqual(1);
        expect(Number(result.figures.billed)).toBeGreaterThanOrEqual(0.8);
        expect(Number(result.figures.spent)).toBeLessThanOrEqual(1);
        expect(Number(result.figures.spent)).toBeGreaterThanOrEqual(0.8);
        expect(result.figures.crashes).toBeGreaterThan(10);
        expect(result.figures.waits).toBeGreaterThan(0);
      }
    },
  );
});

async function spendDollar(random: () => number, dearness: number) {
  const dead = new Set<string>();
  let now = 1_700_000_000_000;
  const log = createMemoryEventLog({ now: () => now });
  const blobs = createMemoryBlobStore();
  const isDeadOwner = (owner: string): boolean => dead.has(owner);
  // Nobody tells who waits that somebody died: it is looked for, as often as timers allow.
  const poll = (tick: () => void): (() => void) => {
    const timer = setInterval(tick, 1);
    return () => clearInterval(timer);
  };
  const ledger = createMemoryBudgetLedger({ isDeadOwner, poll });
  const { audited, figures } = auditedLedger(ledger, isDeadOwner);
  let billed = ZERO_USD;
  let calls = 0;
  const bill = (cost: Usd): void => {
    calls++;
    billed = addUsd(billed, cost);
    if (compareUsd(billed, ONE) > 0) figures.faults.push(`$${billed} is billed`);
  };

  async function work(n: number): Promise<RunOutcome<unknown>> {
    const session = `s${n}`;
    for (let life = 0; ; life++) {
      const owner = `${session}-life-${life}`;
      const crashes = life < MOST_CRASHES && random() < 0.3;
      const place = ["append", "appended", "inferring", "inferred"][Math.floor(random() * 4)] as string;
      const points = pointsUntil(crashes ? `${place}#${Math.floor(random() * 4)}` : undefined);
      const agent = () => spender({ dearness, random, bill, before: () => points.pass("inferring"), after: () => points.pass("inferred") });
      const services = { log, blobs, effects: sideEffectsInMemory(), points, ledger: audited, owner, leaseTtlMs: TTL_MS, now: () => now };
      const runner = openRunner(services, agent, undefined, { budgets: [DOLLAR] });
      const isNew = (await log.head(`session/${session}` as never)) === 0;
      const run = isNew ? runner.run("Spend.", { session }) : await runner.resume(session);
      const outcome = await Promise.race([run.outcome, points.died]);
      if (outcome !== undefined) return outcome;
      dead.add(owner);
      // In memory nobody knows that an owner is dead: its lease ends.
      now += TTL_MS + 1;
      // Whoever takes it up comes later, when others have gone on.
      for (let turn = Math.floor(random() * 20); turn > 0; turn--) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  const outcomes = await Promise.all(Array.from({ length: RUNS }, (_, n) => work(n)));
  const spent = await ledger.spent(DOLLAR.id);
  const { faults, waits, refusals } = figures;
  return {
    outcomes,
    faults,
    figures: { spent, billed, calls, crashes: dead.size, waits, refusals },
  };
}
