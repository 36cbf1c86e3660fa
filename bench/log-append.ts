// What it costs to append the records of one turn: CPU as a ratio to the barest way of keeping the same text.
//   node --conditions=source bench/log-append.ts
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { EventLog, LogId, NewRecord } from "@keelson/protocol";
import { createMemoryEventLog, createSqliteEventLog } from "../packages/runtime/src/state/index.ts";

const REPETITIONS = 9;
const TURNS = 400;
/** A turn with one call of a write tool: what is appended before the call, after it, and at the end. */
const APPENDS = [3, 3, 2];

const folder = mkdtempSync(join(tmpdir(), "keelson-bench-"));
const text = "The quick brown fox jumps over the lazy dog. ".repeat(10);

function recordsOf(turn: number, append: number, count: number): NewRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    key: `run_0123456789abcdef/turn/${turn}/${append}/${index}`,
    type: "message",
    data: { v: 1, message: { role: "assistant", content: [{ type: "text", text }] }, turn },
  }));
}

type Subject = (turn: number) => Promise<void> | void;

function logSubject(log: EventLog): Subject {
  let head = 0;
  return async (turn) => {
    for (const [append, count] of APPENDS.entries())
      head = (await log.append("session/bench" as LogId, head, recordsOf(turn, append, count))).seq;
  };
}

function arraySubject(): Subject {
  const kept: string[] = [];
  return (turn) => {
    for (const [append, count] of APPENDS.entries()) for (const record of recordsOf(turn, append, count)) kept.push(JSON.stringify(record));
  };
}

/** One transaction with one row for each append, without keys, fences or checks: the least that survives a killed process. */
function bareSqliteSubject(): Subject {
  const connection = new DatabaseSync(join(folder, "bare.db"));
  connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE lines (id INTEGER PRIMARY KEY, text TEXT)");
  const insert = connection.prepare("INSERT INTO lines (text) VALUES (?)");
  return (turn) => {
    for (const [append, count] of APPENDS.entries()) insert.run(JSON.stringify(recordsOf(turn, append, count)));
  };
}

const subjects: Readonly<Record<string, Subject>> = {
  "an array of JSON text": arraySubject(),
  "memory log": logSubject(createMemoryEventLog()),
  "a bare SQLite row per append": bareSqliteSubject(),
  "SQLite log": logSubject(createSqliteEventLog(join(folder, "log.db"))),
};

const costs: Record<string, number[]> = {};
for (let repetition = 0; repetition < REPETITIONS; repetition++) {
  for (const [name, subject] of Object.entries(subjects)) {
    const before = process.cpuUsage();
    for (let turn = 0; turn < TURNS; turn++) await subject(repetition * TURNS + turn);
    const { user, system } = process.cpuUsage(before);
    // The first repetition warms up.
    if (repetition > 0) (costs[name] ??= []).push((user + system) / TURNS);
  }
}

const median = (values: readonly number[] = []): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const ratio = (name: string, to: string): string => (median(costs[name]) / median(costs[to])).toFixed(2);
const sqlite = costs["SQLite log"] ?? [];
console.log(
  `one turn: ${APPENDS.reduce((sum, count) => sum + count)} records in ${APPENDS.length} appends; CPU, medians of ${REPETITIONS - 1}`,
);
console.log(`memory log / an array of JSON text               ${ratio("memory log", "an array of JSON text")}`);
console.log(`SQLite log / a bare SQLite row per append        ${ratio("SQLite log", "a bare SQLite row per append")}`);
console.log(
  `SQLite log, last ${TURNS} turns / first ${TURNS} after warm-up  ${((sqlite.at(-1) ?? Number.NaN) / (sqlite[0] ?? Number.NaN)).toFixed(2)}`,
);
if (process.argv.includes("--absolute"))
  for (const name of Object.keys(subjects)) console.log(`${name.padEnd(40)} ${median(costs[name]).toFixed(1)} µs a turn`);
rmSync(folder, { recursive: true });
