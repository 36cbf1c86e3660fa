import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BudgetAmount, BudgetLedger, BudgetScope, Usd } from "@keelson/protocol";
import { toPicoUsd, usd } from "@keelson/protocol";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { createMemoryBudgetLedger } from "./memory/memory-budget-ledger.ts";
import { createSqliteBudgetLedger } from "./sqlite/sqlite-budget-ledger.ts";

const folder = await mkdtemp(join(tmpdir(), "keelson-laws-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

type Open = (isDeadOwner: (owner: string) => boolean) => BudgetLedger & Partial<AsyncDisposable>;
const LEDGERS: readonly (readonly [string, Open])[] = [
  ["createMemoryBudgetLedger", (isDeadOwner) => createMemoryBudgetLedger({ isDeadOwner })],
  [
    "createSqliteBudgetLedger",
    (isDeadOwner) => createSqliteBudgetLedger({ path: join(folder, `${++files}.db`), durability: "process", isDeadOwner }),
  ],
];

const SCOPES: readonly BudgetScope[] = [
  { id: "a", maxCost: usd("1"), maxTokens: 1000 },
  { id: "b", maxCost: usd("0.7") },
  { id: "c", maxTokens: 600, maxToolCalls: 2 },
];
const OWNERS = ["p1", "p2", "p3"];

interface Amount {
  readonly mills: number;
  readonly tokens: number;
  readonly toolCalls: number;
}

const amount: fc.Arbitrary<Amount> = fc.record({
  mills: fc.integer({ min: 0, max: 600 }),
  tokens: fc.integer({ min: 0, max: 500 }),
  toolCalls: fc.integer({ min: 0, max: 1 }),
});
const act = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant("reserve" as const),
      scopes: fc.subarray([...SCOPES], { minLength: 1 }),
      amount,
      owner: fc.constantFrom(...OWNERS),
      inTurn: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("retry" as const), pick: fc.nat() }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("settle" as const), pick: fc.nat(), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("release" as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("die" as const), owner: fc.constantFrom(...OWNERS) }) },
);

interface Held {
  readonly scopes: readonly BudgetScope[];
  readonly amount: Amount;
  readonly owner: string;
  readonly inTurn: boolean;
}

const given = ({ mills, tokens, toolCalls }: Amount): BudgetAmount => ({ cost: usd(mills / 1000), tokens, toolCalls });
const part = ({ mills, tokens, toolCalls }: Amount, share: number): Amount => ({
  mills: Math.floor(mills * share),
  tokens: Math.floor(tokens * share),
  toolCalls,
});

describe.each(LEDGERS)("%s", (name, openLedger) => {
  it("[LA-07] never lets spent plus reserved pass a limit, and spends exactly what was settled or presumed, whatever is reserved, settled, released, and whoever dies", async () => {
    const numRuns = sampleSize(`acts on ${name}`, { test: name.includes("Sqlite") ? 40 : 150, ci: 400, soak: 5000 });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 50 }), async (acts) => {
        const dead = new Set<string>();
        const ledger = openLedger((owner) => dead.has(owner));
        const open = new Map<string, Held>();
        const waiting = new Map<string, Held>();
        const settled: { readonly scopes: readonly BudgetScope[]; readonly amount: Amount }[] = [];
        try {
          for (const [n, one] of acts.entries()) {
            if (one.type === "die") dead.add(one.owner);
            else if (one.type === "reserve" || one.type === "retry") {
              const key = one.type === "reserve" ? `k${n}` : pick(waiting, one.pick);
              if (key === undefined) continue;
              const asked = one.type === "reserve" ? one : (waiting.get(key) as Held);
              // The dead do nothing any more.
              if (dead.has(asked.owner)) continue;
              const { type } = await ledger.reserve(key, asked.scopes, given(asked.amount), {
                owner: asked.owner,
                inTurn: asked.inTurn,
              });
              if (type === "reserved") open.set(key, asked);
              if (type === "wait") waiting.set(key, asked);
              else waiting.delete(key);
              if (type === "refused") await ledger.release(key);
            } else {
              const key = pick(open, one.pick);
              if (key === undefined) continue;
              const { scopes, amount: reserved } = open.get(key) as Held;
              open.delete(key);
              // Also for those whose owner died: whoever resumes the run settles.
              if (one.type === "release") await ledger.release(key);
              else {
                const actual = part(reserved, one.share);
                await ledger.settle(key, given(actual));
                settled.push({ scopes, amount: actual });
              }
            }
            for (const scope of SCOPES) await expectKept(ledger, scope, settled, open, dead);
          }
          // In the end nobody holds anything: what was settled is what is spent, to the last unit.
          for (const key of open.keys()) await ledger.release(key);
          for (const scope of SCOPES) {
            const used = await ledger.used(scope.id);
            expect(used).toMatchObject(given(sumOf(scope, settled)));
            expect(await ledger.spent(scope.id)).toBe(used.cost);
          }
          // Nobody is forgotten in a line where nobody stands any more: all of a budget can be had.
          for (const key of waiting.keys()) await ledger.release(key);
          const rest = 1000 - sumOf(SCOPES[0] as BudgetScope, settled).mills;
          expect(await ledger.reserve("rest", SCOPES.slice(0, 1), usd(rest / 1000))).toEqual({ type: "reserved" });
        } finally {
          await ledger[Symbol.asyncDispose]?.();
        }
      }),
      { numRuns, seed },
    );
  }, 300_000);

  it("serves a crowd that waits in line, whoever of it dies, and leaves nobody waiting", async () => {
    const numRuns = sampleSize(`crowds on ${name}`, { test: name.includes("Sqlite") ? 5 : 40, ci: 60, soak: 1000 });
    const member = fc.record({ mills: fc.integer({ min: 1, max: 100 }), rounds: fc.integer({ min: 1, max: 3 }), dies: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(member, { minLength: 2, maxLength: 16 }), async (crowd) => {
        const dead = new Set<string>();
        let look = (): void => {};
        const ledger = createFor(
          name,
          (owner) => dead.has(owner),
          (tick) => (look = tick),
        );
        const scope: BudgetScope = { id: "all", maxCost: usd("0.1") };
        const { signal } = new AbortController();
        let spent = 0;
        const work = async ({ mills, rounds, dies }: (typeof crowd)[number], n: number): Promise<void> => {
          for (let round = 0; round < rounds; round++) {
            const key = `${n}/${round}`;
            for (;;) {
              const { type } = await ledger.reserve(key, [scope], usd(mills / 1000), { owner: `o${n}`, inTurn: true });
              if (type === "refused") return void (await ledger.release(key));
              if (type === "reserved") break;
              const turn = ledger.changed(["all"], { signal, key });
              // Somebody may have died since it was last looked.
              await new Promise((resolve) => setImmediate(resolve));
              look();
              await turn;
            }
            if (dies && round === rounds - 1) {
              dead.add(`o${n}`);
              look();
              return;
            }
            await Promise.resolve();
            const cost = Math.min(1, mills);
            await ledger.settle(key, usd(cost / 1000));
            spent += cost;
          }
        };
        await Promise.all(crowd.map(work));
        const presumed = Number(toPicoUsd(await ledger.spent("all"))) / 1e9 - spent;
        expect(presumed).toBeGreaterThanOrEqual(0);
        expect(spent + presumed).toBeLessThanOrEqual(100);
        await ledger[Symbol.asyncDispose]?.();
      }),
      { numRuns, seed },
    );
  }, 300_000);
});

function createFor(
  name: string,
  isDeadOwner: (owner: string) => boolean,
  onPoll: (tick: () => void) => void,
): BudgetLedger & Partial<AsyncDisposable> {
  const ticks: (() => void)[] = [];
  const poll = (tick: () => void): (() => void) => {
    ticks.push(tick);
    onPoll(() => {
      for (const one of [...ticks]) one();
    });
    return () => void ticks.splice(ticks.indexOf(tick), 1);
  };
  return name.includes("Sqlite")
    ? createSqliteBudgetLedger({ path: join(folder, `${++files}.db`), durability: "process", isDeadOwner, poll })
    : createMemoryBudgetLedger({ isDeadOwner, poll });
}

function pick(from: ReadonlyMap<string, unknown>, index: number): string | undefined {
  return [...from.keys()][index % Math.max(1, from.size)];
}

function sumOf(scope: BudgetScope, all: Iterable<{ readonly scopes: readonly BudgetScope[]; readonly amount: Amount }>): Amount {
  const sum = { mills: 0, tokens: 0, toolCalls: 0 };
  for (const one of all) {
    if (!one.scopes.includes(scope)) continue;
    sum.mills += one.amount.mills;
    sum.tokens += one.amount.tokens;
    sum.toolCalls += one.amount.toolCalls;
  }
  return sum;
}

/** What the ledger says is spent lies between what was settled, and that with all that the dead left open; with what is open it keeps the limit. */
async function expectKept(
  ledger: BudgetLedger,
  scope: BudgetScope,
  settled: readonly { readonly scopes: readonly BudgetScope[]; readonly amount: Amount }[],
  open: ReadonlyMap<string, Held>,
  dead: ReadonlySet<string>,
): Promise<void> {
  const used = await ledger.used(scope.id);
  const mills = Number(toPicoUsd(used.cost as Usd)) / 1e9;
  const done = sumOf(scope, settled);
  const presumable = sumOf(
    scope,
    [...open.values()].filter(({ owner }) => dead.has(owner)),
  );
  const held = sumOf(scope, open.values());
  expect(mills).toBeGreaterThanOrEqual(done.mills);
  expect(mills).toBeLessThanOrEqual(done.mills + presumable.mills);
  expect(used.tokens).toBeGreaterThanOrEqual(done.tokens);
  expect(used.tokens).toBeLessThanOrEqual(done.tokens + presumable.tokens);
  if (scope.maxCost !== undefined) expect(done.mills + held.mills).toBeLessThanOrEqual(Number(toPicoUsd(scope.maxCost)) / 1e9);
  if (scope.maxTokens !== undefined) expect(done.tokens + held.tokens).toBeLessThanOrEqual(scope.maxTokens);
  if (scope.maxToolCalls !== undefined) expect(done.toolCalls + held.toolCalls).toBeLessThanOrEqual(scope.maxToolCalls);
}
