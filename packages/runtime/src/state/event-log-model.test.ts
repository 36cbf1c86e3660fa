import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Appended, type EventLog, LogError, type LogId, type LogRecord, type NewRecord } from "@keelson/protocol";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { createMemoryEventLog } from "./memory/memory-event-log.ts";
import { createSqliteEventLog } from "./sqlite/sqlite-event-log.ts";

const TTL = 100;
/** In all that was played. */
let sealed = 0;

type Act =
  | {
      readonly type: "append";
      readonly log: LogId;
      readonly place: number | "any";
      readonly records: readonly NewRecord[];
      readonly epoch: "none" | "current" | "old";
      readonly isPower: boolean;
    }
  /** The acknowledgement of an earlier append was lost: its writer makes the same call again. */
  | { readonly type: "repeat"; readonly pick: number }
  | { readonly type: "acquire"; readonly log: LogId; readonly owner: string }
  | { readonly type: "renew" | "release"; readonly pick: number }
  | { readonly type: "tick"; readonly ms: number }
  | { readonly type: "delete"; readonly log: LogId }
  /** Changes nothing that the model knows. */
  | { readonly type: "seal"; readonly log: LogId; readonly before: number }
  | { readonly type: "read"; readonly log: LogId; readonly after: number };

const logs = fc.constantFrom("a" as LogId, "b" as LogId, "a/inbox" as LogId);
/** Enough for a segment, alone. */
const LONG = "long ".repeat(4000);
const records = fc.uniqueArray(
  fc.record({
    key: fc.constantFrom("k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8"),
    type: fc.constantFrom("t", "t", "u"),
    data: fc.constantFrom({}, { n: 1 }, { text: LONG }, { text: LONG }),
  }),
  { selector: (record) => record.key, maxLength: 3 },
);
const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("append" as const),
      log: logs,
      records,
      isPower: fc.boolean(),
      // Relative to the head, so that most appends are good and some are early, late or a repetition.
      place: fc.oneof(fc.constant("any" as const), fc.constant(0), fc.constant(0), fc.integer({ min: -3, max: 1 })),
      epoch: fc.constantFrom("none" as const, "none" as const, "current" as const, "old" as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("repeat" as const), pick: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("acquire" as const), log: logs, owner: fc.constantFrom("x", "y") }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom("renew" as const, "release" as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("tick" as const), ms: fc.constantFrom(1, 60, 101, -1000) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("delete" as const), log: logs }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("seal" as const), log: logs, before: fc.constantFrom(2, 3, 5, 100) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("read" as const), log: logs, after: fc.nat({ max: 4 }) }) },
);

/** What the contract says, as plainly as it can be said. Answers are values, refusals the kind of the failure. */
class Model {
  clock = 10_000;
  readonly logs = new Map<string, LogRecord[]>();
  readonly leases = new Map<string, { epoch: number; owner: string | null; end: number }>();
  lastEpoch = 0;

  append(log: string, expectedSeq: number | "any", added: readonly NewRecord[], epoch: number | undefined): Appended | string {
    const lease = this.leases.get(log);
    if (epoch !== undefined && (lease?.owner == null || lease.epoch !== epoch)) return "stale-epoch";
    const there = this.logs.get(log) ?? [];
    const seqOf = (key: string): number => there.findIndex((record) => record.key === key) + 1;
    let missing = added;
    if (expectedSeq === "any") {
      if (added.some((record) => seqOf(record.key) > 0 && !isSame(there[seqOf(record.key) - 1] as LogRecord, record))) return "conflict";
      missing = added.filter((record) => seqOf(record.key) === 0);
    } else if (expectedSeq !== there.length) {
      const isThere = added.length > 0 && added.every((record, index) => there[expectedSeq + index]?.key === record.key);
      return isThere ? this.standing(log, expectedSeq + added.length) : "conflict";
    } else if (added.some((record) => seqOf(record.key) > 0)) return "conflict";
    const at = Math.max(this.clock, there.at(-1)?.at ?? 0);
    for (const record of missing) there.push({ ...record, seq: there.length + 1, at });
    if (there.length > 0) this.logs.set(log, there);
    const last = added.at(-1);
    return this.standing(log, last === undefined ? there.length : seqOf(last.key));
  }

  standing(log: string, seq: number): Appended {
    return { seq, at: this.logs.get(log)?.[seq - 1]?.at ?? 0 };
  }

  acquire(log: string, owner: string): number | string {
    const lease = this.leases.get(log);
    if (lease !== undefined && lease.owner !== null && lease.owner !== owner) {
      lease.end = Math.min(lease.end, this.clock + TTL);
      if (lease.end > this.clock) return "lease-held";
    }
    this.leases.set(log, { epoch: ++this.lastEpoch, owner, end: this.clock + TTL });
    return this.lastEpoch;
  }

  renew(log: string, epoch: number): string | undefined {
    const lease = this.leases.get(log);
    if (lease?.epoch !== epoch || lease.owner === null) return "stale-epoch";
    lease.end = this.clock + TTL;
    return undefined;
  }

  release(log: string, epoch: number): undefined {
    const lease = this.leases.get(log);
    if (lease?.epoch === epoch) lease.owner = null;
  }

  delete(log: string): undefined {
    this.logs.delete(log);
    this.leases.delete(log);
  }
}

function isSame(left: NewRecord, right: NewRecord): boolean {
  return left.type === right.type && JSON.stringify(left.data) === JSON.stringify(right.data);
}

async function outcomeOf<T>(action: Promise<T>): Promise<T | string> {
  try {
    return await action;
  } catch (error) {
    if (LogError.is(error)) return error.failure.kind;
    throw error;
  }
}

async function readAll(log: EventLog, id: LogId, after = 0): Promise<LogRecord[]> {
  const list: LogRecord[] = [];
  for await (const record of log.read(id, { after })) list.push(record);
  return list;
}

/** Plays the acts on log and model side by side. With several instances of one log, acts go to each in turn. */
async function play(script: readonly Act[], create: (now: () => number) => readonly EventLog[]): Promise<void> {
  const model = new Model();
  const instances = create(() => model.clock);
  const leases: { readonly log: LogId; readonly epoch: number; renew(): Promise<void>; release(): Promise<void> }[] = [];
  const appends: {
    readonly log: LogId;
    readonly expectedSeq: number | "any";
    readonly records: readonly NewRecord[];
    readonly epoch: number | undefined;
  }[] = [];
  for (const [n, act] of script.entries()) {
    const log = instances[n % instances.length] as EventLog;
    switch (act.type) {
      case "append": {
        const head = model.logs.get(act.log)?.length ?? 0;
        const expectedSeq = act.place === "any" ? act.place : Math.max(0, head + act.place);
        const current = model.leases.get(act.log)?.epoch;
        const epoch = act.epoch === "none" ? undefined : act.epoch === "current" ? current : Math.max(0, (current ?? 1) - 1);
        appends.push({ log: act.log, expectedSeq, records: act.records, epoch });
        const options = { durability: act.isPower ? ("power" as const) : ("process" as const), ...(epoch !== undefined && { epoch }) };
        expect(await outcomeOf(log.append(act.log, expectedSeq, act.records, options))).toEqual(
          model.append(act.log, expectedSeq, act.records, epoch),
        );
        break;
      }
      case "repeat": {
        const again = appends[act.pick % Math.max(1, appends.length)];
        if (again === undefined) break;
        const options = again.epoch === undefined ? {} : { epoch: again.epoch };
        expect(await outcomeOf(log.append(again.log, again.expectedSeq, again.records, options))).toEqual(
          model.append(again.log, again.expectedSeq, again.records, again.epoch),
        );
        break;
      }
      case "acquire": {
        const lease = await outcomeOf(log.acquire(act.log, { owner: act.owner, ttlMs: TTL }));
        if (typeof lease !== "string") leases.push(lease);
        expect(typeof lease === "string" ? lease : lease.epoch).toEqual(model.acquire(act.log, act.owner));
        break;
      }
      case "renew":
      case "release": {
        const lease = leases[act.pick % Math.max(1, leases.length)];
        if (lease !== undefined) expect(await outcomeOf(lease[act.type]())).toEqual(model[act.type](lease.log, lease.epoch));
        break;
      }
      case "tick":
        model.clock += act.ms;
        break;
      case "delete":
        expect(await outcomeOf(log.delete(act.log))).toEqual(model.delete(act.log));
        break;
      case "seal":
        if (log.seal !== undefined) sealed += (await log.seal(act.log, { before: act.before })).records;
        break;
      case "read":
        expect(await readAll(log, act.log, act.after)).toEqual((model.logs.get(act.log) ?? []).slice(act.after));
        break;
    }
  }
  for (const log of instances) {
    for (const id of ["a", "b", "a/inbox"]) {
      expect(await readAll(log, id as LogId)).toEqual(model.logs.get(id) ?? []);
      expect(await log.head(id as LogId)).toBe(model.logs.get(id)?.length ?? 0);
    }
    const listed = [...model.logs]
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([id, list]) => ({ log: id, head: list.length, updatedAt: list.at(-1)?.at }));
    expect(await log.list()).toEqual(listed);
  }
  for (const log of instances) await log[Symbol.asyncDispose]();
}

describe("a log does what the model does, whatever is asked of it and in whatever order", () => {
  it("in memory", { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(acts, { maxLength: 60, size: "max" }), (script) => play(script, (now) => [createMemoryEventLog({ now })])),
      { numRuns: 300 },
    );
  });

  it("on SQLite, through two instances on one file", { timeout: 60_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), "keelson-model-"));
    afterAll(() => rmSync(folder, { recursive: true }));
    let files = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(acts, { maxLength: 60, size: "max" }), (script) => {
        const path = join(folder, `${++files}.db`);
        return play(script, (now) => [createSqliteEventLog({ path, now }), createSqliteEventLog({ path, now })]);
      }),
      { numRuns: 80 },
    );
    expect(sealed).toBeGreaterThan(10);
  });
});
