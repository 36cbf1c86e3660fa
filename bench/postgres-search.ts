// Search over the messages of many sessions in PostgreSQL: how long it takes beside LIKE and ILIKE over the same records, and what the index costs.
//   node --conditions=source bench/postgres-search.ts [messages] [setting=value of the server]...
import { performance } from "node:perf_hooks";
import { sessionLog, type SessionId } from "@keelson/protocol";
import { createPostgres } from "@keelson/postgres";
import { createRunner } from "keelson";
import pg from "pg";
import { startPostgresServer } from "../packages/postgres/test/support/postgres-server.ts";
import { cellsOf, machine, messageRecord, sampleText, sampleWord } from "./sample-messages.ts";
import { rangeOf } from "./statistics.ts";

const MESSAGES = Number(process.argv[2] ?? 100_000);
const MESSAGES_PER_SESSION = 200;
/** Sessions at work at once. */
const WORKERS = 4;
/** What is compared takes turns. */
const REPETITIONS = 5;
const QUERIES = 60;
const LIKES = 6;
const texts = Array.from({ length: MESSAGES }, sampleText);

await using server = await startPostgresServer(
  "full_page_writes=on",
  "autovacuum_naptime=10s",
  "shared_buffers=128MB",
  ...process.argv.slice(3),
);
const pool = new pg.Pool({ connectionString: await server.createDatabase(), max: 10 });
// Connections may break when the server is stopped.
pool.on("error", () => {});

/** One message an append, as the holders of leases. @returns the time of each append, and of all for each message, in ms */
async function appendAll(schema: string, wordsOf: (text: string) => string) {
  const stores = createPostgres({ pool, schema });
  await stores.ready();
  const times: number[] = [];
  const starts = Array.from({ length: Math.ceil(MESSAGES / MESSAGES_PER_SESSION) }, (_, index) => index * MESSAGES_PER_SESSION);
  const work = async (): Promise<void> => {
    for (let from = starts.shift(); from !== undefined; from = starts.shift()) {
      const id = sessionLog(`session-${from}` as SessionId);
      await using lease = await stores.log.acquire(id, { owner: "bench", ttlMs: 3_600_000 });
      for (const [index, text] of texts.slice(from, from + MESSAGES_PER_SESSION).entries()) {
        const start = performance.now();
        await stores.log.append(id, index, [messageRecord(text, index)], { epoch: lease.epoch, texts: [wordsOf(text)] });
        times.push(performance.now() - start);
      }
    }
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: WORKERS }, work));
  // What is held is added as well.
  await stores.log.index.unindexed(1);
  return { stores, times, each: (performance.now() - begun) / MESSAGES };
}

async function timed<T>(queries: readonly T[], search: (query: T) => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (const query of queries) {
    const start = performance.now();
    await search(query);
    times.push(performance.now() - start);
  }
  return times;
}

const plain = await appendAll("plain", () => "");
const indexed = await appendAll("indexed", (text) => text);
const { sessions } = createRunner({ log: indexed.stores.log, agents: {} });
const scan = (operator: string) => (query: readonly string[]) =>
  pool.query(
    `SELECT count(*) FROM indexed.records WHERE data ${operator} $1 AND data ${operator} $2`,
    query.map((word) => `%${word}%`),
  );
const subjects = {
  "a search": { count: QUERIES, search: (query: readonly string[]) => sessions.search(query.join(" ")) },
  "a search in one session": {
    count: QUERIES,
    search: (query: readonly string[]) => sessions.search(query.join(" "), { session: "session-0" }),
  },
  "the same words with LIKE": { count: LIKES, search: scan("LIKE") },
  "the same words with ILIKE": { count: LIKES, search: scan("ILIKE") },
};
const rounds = new Map(Object.keys(subjects).map((name) => [name, [] as (readonly number[])[]]));
for (let repetition = 0; repetition < REPETITIONS; repetition++) {
  const queries = Array.from({ length: QUERIES }, () => [sampleWord(), sampleWord()] as const);
  for (const [name, { count, search }] of Object.entries(subjects)) rounds.get(name)?.push(await timed(queries.slice(0, count), search));
}
/** Of one search, the median over that of the first subject in the same repetition. */
const rowOf = (name: string): string => {
  const times = rounds.get(name) ?? [];
  const ratios = rangeOf(times.map((one, index) => rangeOf(one).median / rangeOf(rounds.get("a search")?.[index] ?? []).median));
  return `| ${name}, ms | ${cellsOf(times.flat())} | ${ratios.median.toFixed(1)} × (${ratios.low.toFixed(1)} to ${ratios.high.toFixed(1)}) |`;
};
const sizeOf = async (schema: string): Promise<string> => {
  const { rows } = await pool.query<{ readonly mb: string }>(
    "SELECT (sum(pg_total_relation_size(c.oid)) / 1e6)::int AS mb FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'",
    [schema],
  );
  return `${rows[0]?.mb} MB`;
};
const [plainSize, indexedSize] = [await sizeOf("plain"), await sizeOf("indexed")];
await plain.stores.close();
await indexed.stores.close();
await pool.end();

console.log(`${MESSAGES} messages of 20 to 80 words in ${Math.ceil(MESSAGES / MESSAGES_PER_SESSION)} sessions, ${WORKERS} of them at work at once; ${REPETITIONS} repetitions of ${QUERIES} searches for two words; ${machine}

| | mean | p50 | p99 | a search's p50 |
| --- | --- | --- | --- | --- |
${Object.keys(subjects).map(rowOf).join("\n")}

| | mean | p50 | p99 |
| --- | --- | --- | --- |
| an append with words for the index, ms | ${cellsOf(indexed.times)} |
| an append without, ms | ${cellsOf(plain.times)} |

From the first append to the last message in the index: ${indexed.each.toFixed(3)} ms a message, without an index ${plain.each.toFixed(3)} ms. The tables: ${indexedSize} with the index, ${plainSize} without.`);
