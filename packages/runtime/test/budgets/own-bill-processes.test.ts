import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { compareUsd, usd } from "@keelson/protocol";
import { expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { createSqliteBudgetLedger } from "../../src/state/index.ts";
import { withFolder } from "../crash/scenario-child.ts";
import { randomNumbers } from "../processes/random-numbers.ts";
import { startBillingVendor, WIRES } from "./billing-vendor.ts";
import { PURSE } from "./payer.ts";

const ROUNDS = sampleSize("rounds of four processes that pay one vendor", { test: 1, ci: 3, soak: 50 });
const PROCESSES = 4;
const SESSIONS = 2;
/** A turn that crashes again and again ends its run, so each process is killed so often at most. */
const MOST_KILLS = 2;
/** So much that what the killed held, which is presumed spent, is a part of it. */
const LIMIT = "2.00";
const WIRE_NAMES = Object.keys(WIRES);

const program = join(import.meta.dirname, "pay-process.ts");

it(
  `${PROCESSES} processes that are killed in the middle of their requests never have more billed than the limit of the purse that they share [LA-07, AG-17]`,
  { timeout: ROUNDS * 180_000 },
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const random = randomNumbers(seed * 1000 + round);
      const wire = WIRE_NAMES[(seed + round) % WIRE_NAMES.length] as string;
      const alive = new Map<string, { kill(): void; left: number }>();
      let kills = 0;
      await using vendor = await startBillingVendor(random, undefined, ({ headers }) => {
        // He is asked already, and bills.
        const text = JSON.stringify(headers);
        for (const [name, life] of alive) if (text.includes(name) && --life.left === 0) life.kill();
      });
      await withFolder(async (folder) => {
        /** One life of a process: until all its runs are refused, or until it has asked so often and is killed. */
        const live = async (name: string, killAfter: number, ready: () => Promise<void>) => {
          const args = [folder, name, String(SESSIONS), wire, vendor.url, LIMIT];
          const child = spawn(process.execPath, ["--conditions=source", program, ...args], {
            stdio: ["pipe", "pipe", "inherit"],
            // Most of a start is compiling.
            env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "keelson-crash-compile-cache") },
          });
          alive.set(name, { kill: () => child.kill("SIGKILL"), left: killAfter });
          const exited = once(child, "close") as Promise<[number | null, string | null]>;
          const reasons: string[] = [];
          for await (const line of createInterface({ input: child.stdout })) {
            if (line === "ready") void ready().then(() => child.stdin.end("go\n"));
            else if (line.startsWith("end ")) reasons.push(line.slice(4));
          }
          const [code, signal] = await exited;
          return { reasons, exit: code ?? signal };
        };
        // The first lives begin together.
        let missing = PROCESSES;
        let begin = (): void => {};
        const together = new Promise<void>((resolve) => (begin = resolve));
        const ready = (): Promise<void> => {
          if (--missing === 0) begin();
          return together;
        };
        const faults: string[] = [];
        const pay = async (name: string): Promise<void> => {
          for (let life = 0; ; life++) {
            const killAfter = life < MOST_KILLS ? 1 + Math.floor(3 * random()) : Number.POSITIVE_INFINITY;
            const { reasons, exit } = await live(name, killAfter, ready);
            if (exit === "SIGKILL") {
              kills++;
              continue;
            }
            if (exit !== 0) faults.push(`${name} ended with ${String(exit)}`);
            for (const reason of reasons) if (reason !== "budget-exhausted") faults.push(`a run of ${name} ended with ${reason}`);
            return;
          }
        };
        await Promise.all(Array.from({ length: PROCESSES }, (_, n) => pay(`payer-${n}`)));
        await using ledger = createSqliteBudgetLedger({ path: join(folder, "sessions.db") });
        const spent = await ledger.spent(PURSE.id);
        const figures = { wire, bill: vendor.bill, spent, requests: vendor.requests.length, kills };
        process.stdout.write(`round ${round}, ${PROCESSES} processes: ${JSON.stringify(figures)}\n`);
        expect(faults).toEqual([]);
        expect(compareUsd(vendor.bill, usd(LIMIT)), `$${vendor.bill} was billed:\n${vendor.told.join("\n")}`).toBeLessThanOrEqual(0);
        expect(compareUsd(vendor.bill, spent), `$${vendor.bill} was billed, $${spent} counted`).toBeLessThanOrEqual(0);
        expect(compareUsd(spent, usd(LIMIT)), `$${spent} was counted`).toBeLessThanOrEqual(0);
        expect(kills).toBeGreaterThan(0);
        // It was used, too.
        expect(Number(spent)).toBeGreaterThan(0.9 * Number(LIMIT));
      });
    }
  },
);
