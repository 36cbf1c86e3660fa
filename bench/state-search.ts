// Search over many messages in SQLite: how long it takes beside LIKE, what indexing costs, and how long the event loop waits for it.
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import { createSqliteStore } from "keelson/state";

const MESSAGES = Number(process.argv[2] ?? 100_000);
const QUERIES = 300;
const scope = { type: "global" } as const;
const folder = mkdtempSync(join(tmpdir(), "keelson-state-search-"));
const path = join(folder, "state.db");

// Words as they are in texts: few are frequent, most are rare.
let seed = 1;
const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647;
const word = (): string => `w${Math.floor(20_000 ** random())}`;
const message = (): string => Array.from({ length: 20 + Math.floor(random() * 60) }, word).join(" ");

const quantile = (times: readonly number[], part: number): string => {
  const sorted = times.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(2);
};
const gap = monitorEventLoopDelay({ resolution: 1 });
const yielded = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const store = createSqliteStore({ path, durability: "process" });
const writes: number[] = [];
gap.enable();
for (let index = 0; index < MESSAGES; index++) {
  const text = message();
  const start = performance.now();
  await store.write(scope, `message/${index}`, text);
  writes.push(performance.now() - start);
  await yielded();
}
const writeGap = gap.max / 1e6;

/** The same rows without an index of words. */
const bare = new DatabaseSync(join(folder, "bare.db"));
bare.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT NOT NULL)");
const insert = bare.prepare("INSERT INTO entries VALUES (?, ?)");
const inserts: number[] = [];
for (let index = 0; index < MESSAGES; index++) {
  const text = message();
  const start = performance.now();
  insert.run(`message/${index}`, text);
  inserts.push(performance.now() - start);
}

const queries = Array.from({ length: QUERIES }, () => [word(), word(), word()] as const);
const searches: number[] = [];
gap.reset();
for (const query of queries) {
  const start = performance.now();
  await store.search(scope, query.join(" "));
  searches.push(performance.now() - start);
  await yielded();
}
const searchGap = gap.max / 1e6;
const like = bare.prepare("SELECT key FROM entries WHERE value LIKE ?1 OR value LIKE ?2 OR value LIKE ?3 LIMIT 1000000");
const likes: number[] = [];
for (const query of queries.slice(0, 50)) {
  const start = performance.now();
  like.all(...query.map((each) => `%${each} %`));
  likes.push(performance.now() - start);
}
await store[Symbol.asyncDispose]();
bare.close();
rmSync(folder, { recursive: true });

console.log(`${MESSAGES} messages of 20 to 80 words, ${QUERIES} searches for three words; Node ${process.version}, ${cpus()[0]?.model.trim()}, ${availableParallelism()} cores

| | p50 | p99 |
| --- | --- | --- |
| a search, ms | ${quantile(searches, 0.5)} | ${quantile(searches, 0.99)} |
| the same words with LIKE, ms | ${quantile(likes, 0.5)} | ${quantile(likes, 0.99)} |
| a write with its index, ms | ${quantile(writes, 0.5)} | ${quantile(writes, 0.99)} |
| a bare insert, ms | ${quantile(inserts, 0.5)} | ${quantile(inserts, 0.99)} |

The largest gap in the event loop: ${writeGap.toFixed(1)} ms while writing, ${searchGap.toFixed(1)} ms while searching.`);
