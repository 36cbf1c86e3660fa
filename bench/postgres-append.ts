// What an append to a log in PostgreSQL takes beside a bare insert of the same text: ratios of medians, through one pool, in repetitions that take turns.
//   node --conditions=source bench/postgres-append.ts [setting=value of the server]...
import { performance } from "node:perf_hooks";
import { sessionLog, type SessionId } from "@keelson/protocol";
import { createPostgres } from "@keelson/postgres";
import pg from "pg";
import { startPostgresServer } from "../packages/postgres/test/support/postgres-server.ts";
import { machine, messageRecord, sampleText } from "./sample-messages.ts";
import { rangeOf } from "./statistics.ts";

const REPETITIONS = 15;
const APPENDS = 400;

await using server = await startPostgresServer("full_page_writes=on", "autovacuum_naptime=1min", ...process.argv.slice(2));
const pool = new pg.Pool({ connectionString: await server.createDatabase(), max: 3 });
// Connections may break when the server is stopped.
pool.on("error", () => {});
const { log, close } = createPostgres({ pool });
await pool.query("CREATE TABLE bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, data text NOT NULL)");

/** One text of the given number of words to each of so many appends, one after another. @returns the median of their times, and all of it for each, in ms */
type Subject = (texts: readonly string[]) => Promise<{ readonly median: number; readonly mean: number }>;

async function timed(texts: readonly string[], write: (text: string, index: number) => Promise<unknown>) {
  const times: number[] = [];
  const before = performance.now();
  for (const [index, text] of texts.entries()) {
    const start = performance.now();
    await write(text, index);
    times.push(performance.now() - start);
  }
  return { median: rangeOf(times).median, mean: (performance.now() - before) / texts.length };
}

let sessions = 0;
function appending(wordsOf: (text: string) => string | undefined): Subject {
  return async (texts) => {
    const id = sessionLog(`session-${++sessions}` as SessionId);
    await using lease = await log.acquire(id, { owner: "bench", ttlMs: 3_600_000 });
    return await timed(texts, (text, index) => {
      const words = wordsOf(text);
      return log.append(id, index, [messageRecord(text, index)], { epoch: lease.epoch, ...(words !== undefined && { texts: [words] }) });
    });
  };
}

const subjects: Readonly<Record<string, Subject>> = {
  "a bare insert": (texts) =>
    timed(texts, (text, index) => pool.query("INSERT INTO bare (data) VALUES ($1)", [JSON.stringify(messageRecord(text, index))])),
  "an append without words": appending(() => ""),
  "an append with words, indexing included": appending((text) => text),
};

const names = Object.keys(subjects);
const measured = new Map(names.map((name) => [name, [] as { readonly median: number; readonly mean: number }[]]));
for (let repetition = 0; repetition <= REPETITIONS; repetition++) {
  const texts = Array.from({ length: APPENDS }, sampleText);
  for (let turn = 0; turn < names.length; turn++) {
    const name = names[(turn + repetition) % names.length] as string;
    const figures = await (subjects[name] as Subject)(texts);
    // The first repetition warms up.
    if (repetition > 0) measured.get(name)?.push(figures);
  }
}
await close();
await pool.end();

const ratio = (name: string, figure: "median" | "mean"): string => {
  const { median, low, high } = rangeOf(
    (measured.get(name) ?? []).map((one, index) => one[figure] / (measured.get(names[0] as string)?.[index]?.[figure] ?? Number.NaN)),
  );
  return `${median.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
};
console.log(`one record of 20 to 80 words an append; ${REPETITIONS} repetitions of ${APPENDS}; ${process.argv.slice(2).join(", ") || "fsync=off"}; ${machine}

| | how long it takes, × a bare insert | how many a second, × fewer | median |
| --- | --- | --- | --- |`);
for (const name of names)
  console.log(
    `| ${name} | ${ratio(name, "median")} | ${ratio(name, "mean")} | ${rangeOf((measured.get(name) ?? []).map(({ median }) => median)).median.toFixed(3)} ms |`,
  );
