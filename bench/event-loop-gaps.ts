// How long others wait for the event loop while a log in SQLite takes messages and searches them, beside a loop that does nothing but count.
//   node --conditions=source bench/event-loop-gaps.ts [messages]
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { sessionLog, type SessionId } from "@keelson/protocol";
import { createRunner } from "keelson";
import { createSqliteEventLog } from "keelson/state";

const MESSAGES = Number(process.argv[2] ?? 100_000);
const MESSAGES_PER_SESSION = 200;
const QUERIES = 300;

// Words as they are in texts: few are frequent, most are rare.
let seed = 1;
const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647;
const word = (): string => `w${Math.floor(20_000 ** random())}`;
const message = (): string => Array.from({ length: 20 + Math.floor(random() * 60) }, word).join(" ");
const yielded = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** The gaps while something works, and those of a loop of as long that only counts, with the same neighbours. */
function gapsOf() {
  const own = monitorEventLoopDelay({ resolution: 1 });
  const bare = monitorEventLoopDelay({ resolution: 1 });
  const rowOf = (what: string, gap: typeof own): string =>
    `| ${what} | ${[gap.percentile(99), gap.percentile(99.9), gap.max].map((ns) => (ns / 1e6).toFixed(1)).join(" | ")} |`;
  return {
    /** Does a stretch of work, then counts in turns of half a millisecond. */
    async watch(work: () => Promise<void>): Promise<void> {
      const start = performance.now();
      own.enable();
      await work();
      own.disable();
      const end = performance.now();
      bare.enable();
      while (performance.now() < end + (end - start)) {
        for (const turn = performance.now(); performance.now() < turn + 0.5;);
        await yielded();
      }
      bare.disable();
    },
    rows: (what: string): string => `${rowOf(what, own)}\n${rowOf("a bare loop beside it", bare)}`,
  };
}

const folder = mkdtempSync(join(tmpdir(), "keelson-event-loop-gaps-"));
const log = createSqliteEventLog(join(folder, "sessions.db"));
const appending = gapsOf();
for (let from = 0; from < MESSAGES; from += MESSAGES_PER_SESSION) {
  const id = sessionLog(`session-${from}` as SessionId);
  const texts = Array.from({ length: Math.min(MESSAGES_PER_SESSION, MESSAGES - from) }, message);
  const lease = await log.acquire(id, { owner: "bench", ttlMs: 3_600_000 });
  await appending.watch(async () => {
    for (const [index, text] of texts.entries()) {
      const data = { message: { role: "user", content: [{ type: "text", text }] } };
      await log.append(id, index, [{ key: `message/${index}`, type: "message", data }], { epoch: lease.epoch, texts: [text] });
      await yielded();
    }
  });
  await lease.release();
}

const { sessions } = createRunner({ log, agents: {} });
const searching = gapsOf();
for (let query = 0; query < QUERIES; query++) {
  const words = `${word()} ${word()}`;
  await searching.watch(async () => {
    await sessions.search(words);
    await yielded();
  });
}
await log[Symbol.asyncDispose]();
rmSync(folder, { recursive: true });

console.log(`${MESSAGES} messages of 20 to 80 words, one an append, and ${QUERIES} searches for two words; Node ${process.version}, ${cpus()[0]?.model.trim()}, ${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}

| gaps, ms | p99 | p99.9 | largest |
| --- | --- | --- | --- |
${appending.rows("while appending")}
${searching.rows("while searching")}`);
