import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { EventLog, LogId, LogRecord } from "@keelson/protocol";
import { afterAll, expect, it } from "vitest";
import { sampleSize, seed } from "../../../test/tier.ts";
import { checkSqliteDatabase, createSqliteEventLog, processOwner } from "../src/state/index.ts";
import { randomNumbers } from "./processes/random-numbers.ts";

const KILLS = sampleSize("kills of a process that appends", { test: 6, ci: 80, soak: 2000 });
const SEALERS_KILLED = sampleSize("kills of processes that seal", { test: 6, ci: 10, soak: 100 });
const SEED = seed;

const folder = await mkdtemp(join(tmpdir(), "keelson-processes-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Child {
  readonly process: ChildProcess;
  readonly lines: AsyncIterableIterator<string>;
  /** Resolves with the exit code, or the signal. */
  readonly exit: Promise<number | string>;
}

function start(program: string, ...args: readonly (string | number)[]): Child {
  const file = new URL(`./processes/${program}.ts`, import.meta.url).pathname;
  const child = spawn(process.execPath, ["--conditions=source", file, ...args.map(String)], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> });
  return {
    process: child,
    lines: lines[Symbol.asyncIterator](),
    exit: once(child, "close").then(([code, signal]) => (code ?? signal) as number | string),
  };
}

async function readAll(log: EventLog, id: string): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const record of log.read(id as LogId)) records.push(record);
  return records;
}

it(
  "loses and doubles nothing when several processes append to one inbox of a file that none of them has made",
  { timeout: 60_000 },
  async () => {
    const path = join(folder, "inbox.db");
    const writers = ["w1", "w2", "w3", "w4"];
    const count = 40;
    const children = writers.map((writer) => start("append-to-inbox", path, writer, count));
    expect(await Promise.all(children.map((child) => child.exit))).toEqual(writers.map(() => 0));
    await using log = createSqliteEventLog(path);
    const records = await readAll(log, "session/a/inbox");
    const expected = [...writers, "shared"].flatMap((writer) => Array.from({ length: count }, (_, n) => `${writer}-${n}`));
    expect(records.map(({ key }) => key).sort()).toEqual(expected.sort());
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
    expect(records.every(({ at }, index) => at >= (records[index - 1]?.at ?? 0))).toBe(true);
    for (const writer of writers) {
      const own = records.filter(({ key }) => key.startsWith(`${writer}-`)).map(({ data }) => data["n"]);
      expect(own, "in the order of their writer").toEqual(Array.from({ length: count }, (_, n) => n));
    }
  },
);

it(
  "lets one of two processes write at a time, and fences off the other, however they fight for the lease",
  { timeout: 60_000 },
  async () => {
    const path = join(folder, "lease.db");
    await createSqliteEventLog(path)[Symbol.asyncDispose]();
    const fighters = ["x", "y"].map((owner, index) => ({ owner, child: start("fight-for-lease", path, owner, 60, SEED + index) }));
    const outputs = await Promise.all(
      fighters.map(async ({ child }) => {
        const lines: string[] = [];
        for await (const line of child.lines) lines.push(line);
        return lines;
      }),
    );
    expect(await Promise.all(fighters.map(({ child }) => child.exit)), `seed ${SEED}`).toEqual([0, 0]);

    await using log = createSqliteEventLog(path);
    const records = await readAll(log, "session/a");
    const written = outputs
      .flat()
      .filter((line) => !line.startsWith("lost"))
      .map((line) => line.split(" "));
    // What an append resolved stands where it said, and nothing else stands there.
    expect(written.map(([seq, key]) => [Number(seq), key]).sort(([a], [b]) => Number(a) - Number(b))).toEqual(
      records.map(({ seq, key }) => [seq, key]),
    );
    // One holder after the other: once a higher epoch has written, no lower one does.
    const epochs = records.map(({ data }) => data["epoch"] as number);
    expect(epochs, `seed ${SEED}`).toEqual([...epochs].sort((a, b) => a - b));
    const ownersOf = new Map<number, Set<unknown>>();
    for (const { data } of records)
      ownersOf.set(data["epoch"] as number, (ownersOf.get(data["epoch"] as number) ?? new Set()).add(data["owner"]));
    expect([...ownersOf.values()].every((owners) => owners.size === 1)).toBe(true);
    expect(records.length).toBeGreaterThan(50);
  },
);

it(
  `holds every record that an append had resolved when its process was killed (${KILLS} kills, seed ${SEED})`,
  { timeout: 30_000 + KILLS * 5_000 },
  async () => {
    const random = randomNumbers(SEED);
    let path = "";
    let verified = 0;
    for (let life = 0; life < KILLS; life++) {
      // A new file now and then, since each life reads all that the earlier ones wrote.
      if (life % 20 === 0) {
        path = join(folder, `kills-${life}.db`);
        verified = 0;
      }
      const { process: child, lines, exit } = start("append-until-killed", path, life, SEED + life);
      const printed: { readonly seq: number; readonly key: string }[] = [];
      const wanted = 1 + Math.floor(random() * 80);
      for await (const line of lines) {
        const [seq = "", key = ""] = line.split(" ");
        if (seq === "start") expect(Number(key), "starts where the file ends").toBe(verified);
        else printed.push({ seq: Number(seq), key });
        // Sent once, while the child goes on; whatever it prints until it dies counts as well.
        if (printed.length === wanted) child.kill("SIGKILL");
      }
      expect(await exit, `seed ${SEED}, life ${life}`).toBe("SIGKILL");

      await using log = createSqliteEventLog(path);
      const records = await readAll(log, "session/a");
      for (const { seq, key } of printed) expect(records[seq - 1]?.key, `seed ${SEED}, life ${life}, seq ${seq}`).toBe(key);
      // The last append may have got in without its acknowledgement, yet never in part.
      const whole = new Map<string, number>();
      for (const { key, data } of records) {
        const append = key.slice(0, key.lastIndexOf("/"));
        whole.set(append, (whole.get(append) ?? (data["of"] as number)) - 1);
      }
      expect(
        [...whole].filter(([, missing]) => missing !== 0),
        `seed ${SEED}, life ${life}`,
      ).toEqual([]);
      verified = await log.head("session/a" as LogId);
      expect(records.length).toBe(verified);
      // The killed process holds the lease for another hour; it is known to be dead.
      if (life === KILLS - 1) await log.acquire("session/a" as LogId, { owner: processOwner(), ttlMs: 1000 });
    }
  },
);

it(
  `holds each record once, and each segment whole, when processes that seal and append are killed (${SEALERS_KILLED} kills, seed ${SEED})`,
  { timeout: 30_000 + SEALERS_KILLED * 10_000 },
  async () => {
    const random = randomNumbers(SEED);
    const path = join(folder, "sealing.db");
    const printed = new Map<number, string>();
    let sealedRecords = 0;
    // A life may end before anything is sealed, on a busy machine; others follow then.
    const isEnough = (lives: number): boolean => lives >= SEALERS_KILLED && (sealedRecords > 100 || lives >= 5 * SEALERS_KILLED);
    for (let life = 0; !isEnough(life); life++) {
      const sealers = [start("seal-until-killed", path), start("seal-until-killed", path)];
      // At work before anybody is killed: else only starts would be tried.
      for (const { lines } of sealers) await lines.next();
      const writer = start("append-until-killed", path, life, SEED + life);
      const victims = [writer, ...sealers];
      const outputs = sealers.map(async ({ lines }) => {
        for await (const line of lines) sealedRecords += Number(line.split(" ")[1]);
      });
      let wanted = 150 + Math.floor(random() * 150);
      for await (const line of writer.lines) {
        const [seq = "", key = ""] = line.split(" ");
        if (seq !== "start") printed.set(Number(seq), key);
        // In whatever order, at whatever moment.
        if (--wanted <= 0) victims.splice(Math.floor(random() * victims.length), 1)[0]?.process.kill("SIGKILL");
      }
      for (const { process: child } of victims) child.kill("SIGKILL");
      await Promise.all([...outputs, writer.exit, ...sealers.map(({ exit }) => exit)]);

      await using log = createSqliteEventLog(path);
      const records = await readAll(log, "session/a");
      const where = `seed ${SEED}, life ${life}`;
      expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
      expect(await log.head("session/a" as LogId), where).toBe(records.length);
      expect(new Set(records.map(({ key }) => key)).size, where).toBe(records.length);
      for (const [seq, key] of printed) expect(records[seq - 1]?.key, `${where}, seq ${seq}`).toBe(key);
      expect(checkSqliteDatabase(path), where).toEqual([]);
    }
    expect(sealedRecords).toBeGreaterThan(100);
  },
);

it("follows what another process appends", { timeout: 30_000 }, async () => {
  const path = join(folder, "follow.db");
  await using log = createSqliteEventLog(path);
  const child = start("follow-log", path);
  const next = async (): Promise<string> => (await child.lines.next()).value as string;
  for (const key of ["a", "b", "c"]) {
    expect(await next()).toBe("waiting");
    await log.append("session/a/inbox" as LogId, "any", [{ key, type: "note", data: {} }]);
    expect(await next()).toBe(key);
  }
  expect(await next()).toBe("waiting");
  child.process.stdin?.end();
  expect(await next()).toBe("end");
  expect(await child.exit).toBe(0);
});
