import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { addUsd, type SessionId, sessionLog, type Usd, usd, ZERO_USD } from "@keelson/protocol";
import { expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { worstCase } from "../../src/providers/prices.ts";
import { createSqliteBudgetLedger, createSqliteEventLog } from "../../src/state/index.ts";
import { withFolder } from "../crash/scenario-child.ts";
import { faultsOf } from "../crash/normalised-log.ts";
import { randomNumbers } from "../processes/random-numbers.ts";
import { DOLLAR, spenderPrice } from "./spender.ts";

const PROCESSES = sampleSize("processes that share a dollar", { test: 4, ci: 12, soak: 12 });
const ROUNDS = sampleSize("rounds of processes that share a dollar", { test: 1, ci: 1, soak: 25 });
const SESSIONS = 3;
/** A turn that crashes again and again ends its run, so each process is killed so often at most. */
const MOST_KILLS = 2;

const program = join(import.meta.dirname, "spend-process.ts");

/** One life of a process: until all its runs are over, or until it has made so many calls and is killed. */
async function live(
  folder: string,
  name: string,
  {
    round,
    dearness,
    killAfter,
    ready,
  }: { readonly round: number; readonly dearness: number; readonly killAfter: number | undefined; ready(): Promise<void> },
) {
  const args = [folder, name, String(seed * 100 + round), String(SESSIONS), String(dearness)];
  const child = spawn(process.execPath, ["--conditions=source", program, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    // Most of a start is compiling.
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "keelson-crash-compile-cache") },
  });
  const exited = once(child, "close") as Promise<[number | null, string | null]>;
  const reasons: string[] = [];
  let calls = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === "ready") void ready().then(() => child.stdin.end("go\n"));
    else if (line.startsWith("end ")) reasons.push(line.slice(4));
    else if (++calls === killAfter) child.kill("SIGKILL");
  }
  const [code, signal] = await exited;
  return { reasons, exit: code ?? signal };
}

it(
  `${PROCESSES} processes, killed at random points, never overspend the dollar that they share on one SQLite ledger, use it up while work remains, and refuse no run for what another has only reserved [LA-07]`,
  { timeout: ROUNDS * 180_000 },
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      // So cheap that what the killed held, which is presumed spent, is a small part of the dollar.
      const dearness = 6 / PROCESSES;
      const random = randomNumbers(seed * 100 + round);
      await withFolder(async (folder) => {
        const faults: string[] = [];
        let kills = 0;
        const keepAlive = async (name: string, lives: readonly (number | undefined)[]): Promise<void> => {
          for (const killAfter of lives) {
            const { reasons, exit } = await live(folder, name, { round, dearness, killAfter, ready });
            if (exit === "SIGKILL") {
              kills++;
              continue;
            }
            if (exit !== 0) faults.push(`${name} ended with ${String(exit)}`);
            for (const reason of reasons) if (reason !== "budget-exhausted") faults.push(`a run of ${name} ended with ${reason}`);
            return;
          }
        };
        const killed = (): number => 1 + Math.floor(random() * 5);
        // The first lives begin together.
        let missing = PROCESSES;
        let begin = (): void => {};
        const together = new Promise<void>((resolve) => (begin = resolve));
        const ready = (): Promise<void> => {
          if (--missing === 0) begin();
          return together;
        };
        await Promise.all(
          Array.from({ length: PROCESSES }, (_, n) =>
            keepAlive(`p${n}`, [...Array.from({ length: 1 + (n % MOST_KILLS) }, killed), undefined]),
          ),
        );
        await using log = createSqliteEventLog({ path: join(folder, "sessions.db") });
        await using ledger = createSqliteBudgetLedger({ path: join(folder, "sessions.db") });
        const spent = await ledger.spent(DOLLAR.id);
        const billed = readFileSync(join(folder, "bill.txt"), "utf8").trim().split("\n");
        const bill = billed.reduce<Usd>((sum, cost) => addUsd(sum, cost as Usd), ZERO_USD);
        // What was spent when a run was refused left too little for the least that its call could have come to.
        const least = Number(worstCase(20_000, 1024, spenderPrice(dearness)));
        let refusals = 0;
        for (let n = 0; n < PROCESSES * SESSIONS; n++) {
          const session = `p${n % PROCESSES}-${Math.floor(n / PROCESSES)}`;
          faults.push(...(await faultsOf(log, session)).map((fault) => `${session}: ${fault}`));
          for await (const { type, data } of log.read(sessionLog(session as SessionId))) {
            if (type !== "budget" || data["threshold"] !== undefined) continue;
            refusals++;
            if (Number(data["used"]) + least <= 1) faults.push(`${session} was refused when $${String(data["used"])} was spent`);
          }
        }
        const figures = { spent, billed: bill, calls: billed.length, kills, refusals };
        process.stdout.write(`round ${round}, ${PROCESSES} processes: ${JSON.stringify(figures)}\n`);
        expect(faults).toEqual([]);
        expect(Number(bill)).toBeLessThanOrEqual(1);
        expect(Number(spent)).toBeLessThanOrEqual(1);
        expect(Number(spent)).toBeGreaterThanOrEqual(0.8);
        expect(Number(bill)).toBeGreaterThanOrEqual(0.8);
        expect(kills).toBeGreaterThanOrEqual(PROCESSES / 2);
        expect(refusals).toBe(PROCESSES * SESSIONS);
        // Nothing is held by the dead: what is left can be had.
        const rest = usd((1 - Number(spent)).toFixed(12));
        expect(await ledger.reserve("rest", [{ id: DOLLAR.id, maxCost: usd("1") }], rest)).toEqual({ type: "reserved" });
      });
    }
  },
);
