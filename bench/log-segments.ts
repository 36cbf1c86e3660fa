// Segments of an event log in SQLite: what a long session takes before and after it is sealed, how long that takes, and how long reading does.
//   node --conditions=source bench/log-segments.ts [turns]
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import { sessionLog, type SessionId } from "@keelson/protocol";
import { createAgent, createRunner, defineTool } from "keelson";
import { createSqliteEventLog } from "keelson/state";
import { scriptedModel } from "keelson/testing";

const TURNS = Number(process.argv[2] ?? 1000);
const REPETITIONS = 7;
const folder = mkdtempSync(join(tmpdir(), "keelson-log-segments-"));
const path = join(folder, "sessions.db");

// What a model would read: pages of this project's own documents.
const docs = join(import.meta.dirname, "../docs");
const text = readdirSync(docs)
  .filter((name) => name.endsWith(".md"))
  .map((name) => readFileSync(join(docs, name), "utf8"))
  .join("\n");
const pageOf = (n: number): string => text.slice((n * 1500) % (text.length - 1500)).slice(0, 1500);
const read = defineTool({
  name: "read",
  description: "Reads a page.",
  effect: "read",
  input: { type: "object", properties: { page: { type: "number" } } },
  execute: ({ page }) => pageOf(page as number),
});
const answers = Array.from({ length: TURNS - 1 }, (_, page) => ({
  text: pageOf(7 * page).slice(0, 200),
  toolCalls: [{ name: "read", input: { page } }],
}));
const agent = createAgent({ name: "reader", model: scriptedModel([...answers, "done"]), tools: [read], limits: { maxTurns: TURNS } });

const LOG = sessionLog("voyage" as SessionId);
{
  await using log = createSqliteEventLog(path);
  await createRunner({ agent, log }).run("Read it all.", { session: "voyage" }).outcome;
}
copyFileSync(path, join(folder, "rows.db"));

const sizeOf = (file: string): number => {
  using database = new DatabaseSync(file);
  database.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  return statSync(file).size;
};

/** @returns records, and the median of ms for 10,000 */
async function reading(file: string): Promise<readonly [number, number]> {
  await using log = createSqliteEventLog(file);
  const times: number[] = [];
  let records = 0;
  for (let n = 0; n < REPETITIONS; n++) {
    records = 0;
    const start = performance.now();
    for await (const _ of log.read(LOG)) records++;
    times.push(((performance.now() - start) * 10_000) / records);
  }
  return [records, times.toSorted((a, b) => a - b)[Math.floor(REPETITIONS / 2)] as number];
}

const gap = monitorEventLoopDelay({ resolution: 1 });
const log = createSqliteEventLog(path);
gap.enable();
const start = performance.now();
const sealed = await log.seal(LOG, { before: Number.MAX_SAFE_INTEGER });
const sealing = performance.now() - start;
const longest = gap.max / 1e6;
await log[Symbol.asyncDispose]();

const [records, fromRows] = await reading(join(folder, "rows.db"));
const [, fromSegments] = await reading(path);
const kib = (bytes: number): string => `${Math.round(bytes / 1024)} KiB`;
console.log(`${cpus()[0]?.model}, ${availableParallelism()} threads, Node ${process.version}`);
console.log(`${TURNS} turns, ${records} records, of which ${sealed.records} were sealed in ${sealed.segments} segments`);
console.log(`text of the records: ${kib(sealed.bytesBefore)}, segments: ${kib(sealed.bytesAfter)}`);
console.log(`whole file after VACUUM: ${kib(sizeOf(join(folder, "rows.db")))}, sealed: ${kib(sizeOf(path))}`);
console.log(`sealing: ${sealing.toFixed(0)} ms, longest gap in the event loop ${longest.toFixed(1)} ms`);
console.log(`reading 10,000 records: ${fromRows.toFixed(0)} ms from rows, ${fromSegments.toFixed(0)} ms from segments`);
rmSync(folder, { recursive: true });
