import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject, JsonValue, LogRecord } from "@keelson/protocol";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ENGINE_SCENARIOS } from "./engine-scenarios.ts";
import { ERASURES, normaliseLog } from "./normalise-log.ts";
import { openOneGo } from "./open-one-go.ts";
import { playScenario } from "./play-scenario.ts";
import type { ScenarioEngine } from "./scenario-engine.ts";
import type { SessionRecords } from "./session-records.ts";

let directory: string;
let engine: ScenarioEngine;
/** Each session of each scenario by itself. */
const sessions: SessionRecords[] = [];

function withChildren(session: SessionRecords): readonly SessionRecords[] {
  return [session, ...session.children.flatMap(withChildren)];
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "keelson-normalise-"));
  engine = await openOneGo(directory);
  for (const scenario of ENGINE_SCENARIOS)
    sessions.push(...withChildren((await playScenario(scenario, engine, AbortSignal.timeout(30_000))).records));
}, 120_000);
afterAll(async () => {
  await engine.close();
  await rm(directory, { recursive: true, force: true });
});

const normalised = (records: readonly LogRecord[]): JsonValue =>
  normaliseLog({ session: "s", records, children: [] }).records as unknown as JsonValue;

/** What the list of erasures says of whole records, in other words: a wait for children alone, and calls of children reserved again. */
function isErased({ type, data }: LogRecord, index: number, records: readonly LogRecord[]): boolean {
  const isOfChildren = (record: LogRecord | undefined): boolean =>
    record?.type === "run-suspend" &&
    (record.data["waits"] as readonly JsonObject[]).every((wait) => wait["path"] !== undefined || wait["type"] === "child");
  if (type === "run-suspend") return isOfChildren(records[index]);
  if (type === "run-resume") return isOfChildren(records[index - 1]);
  if (type !== "tool-reserved") return false;
  const { callId } = data;
  const started = records.some((record) => record.type === "child-start" && record.data["callId"] === callId);
  const before = records.slice(0, index);
  const last = before.findLastIndex((record) => record.type === type && record.data["callId"] === callId);
  return started && last >= 0 && before.slice(last).some((record) => record.type === "run-suspend");
}

/** Of two calls of one turn that started children: which of them ends first is on the list, too. */
function areEndsOfChildren(one: LogRecord, other: LogRecord, records: readonly LogRecord[]): boolean {
  const started = new Set(records.filter(({ type }) => type === "child-start").map(({ data }) => data["callId"]));
  const callOf = ({ type, key, data }: LogRecord): string | undefined =>
    type === "child-end" || (type === "tool-result" && started.has(data["callId"])) ? key.split("/call/")[1]?.split("/")[0] : undefined;
  const [first, second] = [callOf(one), callOf(other)];
  return first !== undefined && second !== undefined && first !== second && one.key.split("/call/")[0] === other.key.split("/call/")[0];
}

const ERASED_NAMES = ["nonce", "token", "expiresAt", "until", "startedAt", "endedAt", "ledger", "at", "durationMs", "waits"];

type Path = readonly (string | number)[];

/** Where the texts, numbers and truth values of a record's data stand. */
function leavesOf(value: JsonValue | undefined, path: Path = []): readonly Path[] {
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([name, part]) => leavesOf(part, [...path, name]));
}

function changed(value: JsonValue | undefined, [name, ...rest]: Path): JsonValue {
  if (name === undefined) return `${String(value)} (changed)`;
  if (Array.isArray(value)) return value.map((item: JsonValue, index) => (String(index) === name ? changed(item, rest) : item));
  const members = value as JsonObject;
  return { ...members, [name]: changed(members[name], rest) };
}

describe("what is compared of two logs", () => {
  it("holds each record: logs that lack one, or have one twice, differ, but for those that the list names", () => {
    let erased = 0;
    for (const { session, records } of sessions) {
      const whole = normalised(records);
      for (const [index, record] of records.entries()) {
        if (isErased(record, index, records)) {
          erased++;
          continue;
        }
        const where = `${session} ${record.seq} ${record.type}`;
        expect(normalised(records.toSpliced(index, 1)), `${where} dropped`).not.toEqual(whole);
        expect(normalised(records.toSpliced(index, 0, record)), `${where} doubled`).not.toEqual(whole);
      }
    }
    expect(sessions.flatMap(({ records }) => records).length).toBeGreaterThan(1_500);
    expect(erased).toBeGreaterThan(10);
  });

  it("holds the order of records, their types, their keys but for numbers of waits, and each value that the list does not name", () => {
    const places = sessions.flatMap(({ records }) =>
      records.flatMap((record, index) => (isErased(record, index, records) ? [] : [{ records, index }])),
    );
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), ({ records, index }, at) => {
        const record = records[index] as LogRecord;
        const whole = normalised(records);
        const put = (other: LogRecord): JsonValue => normalised(records.with(index, other));
        expect(put({ ...record, type: `${record.type}-` })).not.toEqual(whole);
        expect(put({ ...record, key: `${record.key}-` })).not.toEqual(whole);
        const next = records[index + 1];
        if (next !== undefined && !isErased(next, index + 1, records) && !areEndsOfChildren(record, next, records))
          expect(normalised(records.with(index, next).with(index + 1, record))).not.toEqual(whole);
        const leaves = leavesOf(record.data).filter((path) => !path.some((name) => ERASED_NAMES.includes(String(name))));
        const path = leaves[Math.floor(at * leaves.length)];
        if (path !== undefined && path.length > 0)
          expect(put({ ...record, data: changed(record.data, path) as JsonObject })).not.toEqual(whole);
      }),
    );
  });

  it("leaves out what the list names, each with its reason, and says so", () => {
    for (const { what, why } of ERASURES) expect([what, why]).toEqual([expect.stringMatching(/\w+/), expect.stringMatching(/\w+/)]);
    const record = (seq: number, type: string, key: string, data: JsonObject): LogRecord => ({ seq, at: seq * 10, type, key, data });
    const one = [
      record(1, "child-start", "r/t1/call/c/child-start", { callId: "c", session: "s~1" }),
      record(2, "tool-reserved", "r/t1/call/c/reserved/1", { callId: "c" }),
      record(3, "tool-result", "r/t1/call/c/result", { callId: "c", durationMs: 3 }),
    ];
    const other = [
      record(1, "child-start", "r/t1/call/c/child-start", { callId: "c", session: "s~1" }),
      record(2, "tool-reserved", "r/t1/call/c/reserved/1", { callId: "c" }),
      record(3, "run-suspend", "r/suspend/0", { reason: "awaiting-child", waits: [{ type: "child", run: "r2", session: "s~1" }] }),
      record(4, "run-resume", "r/resume/0", { cause: "child" }),
      record(5, "tool-reserved", "r/t1/call/c/reserved/2", { callId: "c" }),
      record(6, "tool-result", "r/t1/call/c/result", { callId: "c", durationMs: 90 }),
    ];
    expect(normalised(one)).toEqual(normalised(other));
  });
});
