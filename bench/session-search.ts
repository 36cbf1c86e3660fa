// Search over the messages of many sessions in SQLite: how long it takes beside LIKE, what the index costs each append, and how long the event loop waits.
//   node --conditions=source bench/session-search.ts [messages]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import { sessionLog, type SessionId } from "@keelson/protocol";
import { createRunner } from "keelson";
import { createSqliteEventLog } from "keelson/state";
import { cellsOf, machine, messageRecord, sampleText, sampleWord } from "./sample-messages.ts";

const MESSAGES = Number(process.argv[2] ?? 100_000);
const MESSAGES_PER_SESSION = 200;
const QUERIES = 300;
const folder = mkdtempSync(join(tmpdir(), "keelson-session-search-"));

const texts = Array.from({ length: MESSAGES }, sampleText);
const gap = monitorEventLoopDelay({ resolution: 1 });
const yielded = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** One message an append, as the holder of a lease. @returns the time of each, in ms */
async function appendAll(log: ReturnType<typeof createSqliteEventLog>, isIndexed: boolean): Promise<number[]> {
  const times: number[] = [];
  for (let from = 0; from < MESSAGES; from += MESSAGES_PER_SESSION) {
    const id = sessionLog(`session-${from}` as SessionId);
    const lease = await log.acquire(id, { owner: "bench", ttlMs: 3_600_000 });
    for (const [index, text] of texts.slice(from, from + MESSAGES_PER_SESSION).entries()) {
      const start = performance.now();
      await log.append(id, index, [messageRecord(text, index)], { epoch: lease.epoch, texts: [isIndexed ? text : ""] });
      times.push(performance.now() - start);
      await yielded();
    }
    await lease.release();
  }
  return times;
}

const plain = createSqliteEventLog(join(folder, "plain.db"));
const bareAppends = await appendAll(plain, false);
await plain[Symbol.asyncDispose]();

const log = createSqliteEventLog(join(folder, "sessions.db"));
gap.enable();
const appends = await appendAll(log, true);
const appendGap = gap.max / 1e6;

const { sessions } = createRunner({ log, agents: {} });
const queries = Array.from({ length: QUERIES }, () => [sampleWord(), sampleWord()] as const);
const searches: number[] = [];
gap.reset();
for (const query of queries) {
  const start = performance.now();
  await sessions.search(query.join(" "));
  searches.push(performance.now() - start);
  await yielded();
}
const searchGap = gap.max / 1e6;
await log[Symbol.asyncDispose]();

const database = new DatabaseSync(join(folder, "plain.db"));
const like = database.prepare("SELECT count(*) FROM appends WHERE data LIKE ?1 AND data LIKE ?2");
const likes: number[] = [];
for (const query of queries.slice(0, 50)) {
  const start = performance.now();
  like.get(...query.map((each) => `%${each}%`));
  likes.push(performance.now() - start);
}
const pages = (file: string): number => {
  using opened = new DatabaseSync(join(folder, file));
  return opened.prepare("SELECT page_count * page_size / 1e6 AS mb FROM pragma_page_count, pragma_page_size").get()?.["mb"] as number;
};
const [plainSize, indexedSize] = [pages("plain.db"), pages("sessions.db")];
database.close();
rmSync(folder, { recursive: true });

console.log(`${MESSAGES} messages of 20 to 80 words in ${Math.ceil(MESSAGES / MESSAGES_PER_SESSION)} sessions, ${QUERIES} searches for two words; ${machine}

| | mean | p50 | p99 |
| --- | --- | --- | --- |
| a search, ms | ${cellsOf(searches)} |
| the same words with LIKE, ms | ${cellsOf(likes)} |
| an append with words for the index, ms | ${cellsOf(appends)} |
| an append without, ms | ${cellsOf(bareAppends)} |

The file: ${indexedSize.toFixed(0)} MB with the index, ${plainSize.toFixed(0)} MB without. The largest gap in the event loop: ${appendGap.toFixed(1)} ms while appending, ${searchGap.toFixed(1)} ms while searching.`);
