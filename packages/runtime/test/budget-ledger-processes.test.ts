import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { usd } from "@keelson/protocol";
import { afterAll, describe, expect, it } from "vitest";
import { createSqliteBudgetLedger } from "../src/state/index.ts";

const folder = await mkdtemp(join(tmpdir(), "keelson-budget-processes-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const SHARED = { id: "shared", maxCost: usd("1") };

/** Another process that holds an amount, or waits for it. */
async function hold(path: string, key: string, amount: string) {
  const program = new URL("./processes/hold-budget.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, ["--conditions=source", program, path, key, amount], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "close");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const reservation = (await lines.next()).value as string;
  return {
    answer: reservation,
    async tell(order: string) {
      child.stdin.end(`${order}\n`);
      await exited;
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

describe("processes that share a budget", { timeout: 60_000 }, () => {
  it("wake who waits in another when they settle, and take their turns in one line", async () => {
    const path = join(folder, `${++files}.db`);
    await using ledger = createSqliteBudgetLedger({ path, durability: "process" });
    await ledger.reserve("mine", [SHARED], usd("0.2"));
    const first = await hold(path, "first", "0.8");
    expect(first.answer).toBe("reserved");
    expect(await ledger.reserve("next", [SHARED], usd("0.5"), { inTurn: true })).toMatchObject({ type: "wait", available: "0" });
    const behind = await hold(path, "behind", "0.1");
    expect(behind.answer).toBe("wait");
    const turn = ledger.changed(["shared"], { signal: new AbortController().signal, key: "next" });
    await first.tell("settle 0.1");
    await turn;
    expect(await ledger.reserve("next", [SHARED], usd("0.5"), { inTurn: true })).toEqual({ type: "reserved" });
    await behind.kill();
    expect(await ledger.reserve("last", [SHARED], usd("0.2"))).toEqual({ type: "reserved" });
  });

  it("let nobody wait for one that was killed: what it held is presumed spent, until somebody settles it", async () => {
    const path = join(folder, `${++files}.db`);
    await using ledger = createSqliteBudgetLedger({ path, durability: "process" });
    const killed = await hold(path, "killed", "0.7");
    expect(await ledger.reserve("mine", [SHARED], usd("0.4"), { inTurn: true })).toMatchObject({ type: "wait", available: "0.3" });
    const turn = ledger.changed(["shared"], { signal: new AbortController().signal, key: "mine" });
    await killed.kill();
    await turn;
    expect(await ledger.reserve("mine", [SHARED], usd("0.4"), { inTurn: true })).toMatchObject({ type: "refused", spent: "0.7" });
    await ledger.settle("killed", usd("0.2"));
    expect(await ledger.reserve("mine", [SHARED], usd("0.4"), { inTurn: true })).toEqual({ type: "reserved" });
    expect(await ledger.spent("shared")).toBe("0.2");
  });
});
