import { type EventLog, type LogId, LogError, type SessionId } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemoryEventLog, createSqliteEventLog } from "../../state/index.ts";
import { ScheduleBook } from "./schedule-book.ts";
import { cancelRecord, deliveredRecord, firedRecord, givenUpRecord, scheduleRecord, type ScheduleTerms } from "./schedule-state.ts";
import type { ScheduleId } from "./scheduler.ts";

const once = (name: string, at: number): ScheduleTerms => ({
  id: name as ScheduleId,
  session: "s" as SessionId,
  agent: "a",
  action: "act",
  key: name,
  missed: "each",
  at,
});
const every = (name: string): ScheduleTerms => {
  const { at: _at, ...terms } = once(name, 0);
  return { ...terms, cron: "* * * * *", timeZone: "UTC" };
};
const bookOf = (log: EventLog, maxRecords = 1000): ScheduleBook => new ScheduleBook({ log, durability: "process", maxRecords });
const stateOf = ({ table }: ScheduleBook): unknown => ({
  live: [...table.live].map(([id, { terms: _terms, pending, ...state }]) => [id, { ...state, pending: [...pending] }]),
  over: [...table.over.keys()],
});
const logs = async (log: EventLog): Promise<readonly string[]> => (await log.list({ prefix: "schedules/" })).map(({ log: id }) => id);

describe.each([
  ["memory", () => createMemoryEventLog()],
  ["SQLite", () => createSqliteEventLog({ path: ":memory:" })],
])("the book of schedules in a log of %s", (_name, create) => {
  it("shows every writer what all wrote, and asks a writer again who had not seen it", async () => {
    const log = create();
    const [a, b] = [bookOf(log), bookOf(log)];
    await Promise.all([b.refresh(), a.append(() => [scheduleRecord(once("first", 9), 0)])]);
    let asked = 0;
    await b.append(({ live }) => {
      asked++;
      return live.has("second") ? [] : [scheduleRecord(once("second", 9), 0)];
    });
    // Both at once, from what was the same for both.
    await Promise.all([a, b].map((book) => book.append(({ live }) => (live.has("third") ? [] : [scheduleRecord(once("third", 9), 0)]))));
    for (const book of [a, b, bookOf(log)]) {
      await book.refresh();
      expect([...book.table.live.keys()]).toEqual(["first", "second", "third"]);
    }
    expect(asked).toBeGreaterThan(0);
    await log[Symbol.asyncDispose]();
  });

  it("closes a log that has grown long, and goes on in the next with what it adds up to", async () => {
    const log = create();
    const [book, idle] = [bookOf(log, 5), bookOf(log, 5)];
    await book.append(() => [scheduleRecord(every("nightly"), 10), scheduleRecord(once("soon", 20), 10)]);
    await idle.refresh();
    for (let at = 60; at <= 3600; at += 60) await book.append(() => [firedRecord({ id: "nightly", at, entry: at, delivered: at !== 600 })]);
    await book.append(() => [firedRecord({ id: "soon", at: 20, entry: 1, delivered: true })]);
    const expected = { live: [["nightly", { dealtUpTo: 3600, firedAt: 3600, pending: [[600, 600]] }]], over: ["soon"] };
    expect(stateOf(book)).toEqual(expected);
    const left = await logs(log);
    expect(left).toHaveLength(1);
    expect(left[0]).not.toBe("schedules/00000001");
    expect(await log.head(left[0] as LogId)).toBeLessThan(12);
    // One that slept through all of it, and a new one, see the same.
    const fresh = bookOf(log, 5);
    await Promise.all([idle.refresh(), fresh.refresh()]);
    expect([stateOf(idle), stateOf(fresh)]).toEqual([expected, expected]);
    await idle.append(({ live }) => (live.has("nightly") ? [cancelRecord("nightly")] : []));
    await book.refresh();
    expect([...book.table.live.keys()]).toEqual([]);
    await log[Symbol.asyncDispose]();
  });
});

describe("the book of schedules", () => {
  it("is the same for every process, whatever it wrote, whoever closed a log and wherever one died in it", async () => {
    const act = fc.record({
      who: fc.nat(2),
      what: fc.constantFrom("create", "fire", "deliver", "give up", "cancel", "die"),
      id: fc.constantFrom("a", "b", "c", "d"),
      dieAfter: fc.nat(3),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 40 }), fc.integer({ min: 0, max: 6 }), async (acts, maxRecords) => {
        const log = createMemoryEventLog();
        const all = [0, 1, 2].map(() => bookOf(log, maxRecords));
        const plain = createMemoryEventLog();
        const model = bookOf(plain, 100_000);
        let at = 0;
        for (const { who, what, id, dieAfter } of acts) {
          at += 1000;
          const time = at;
          const make: Parameters<ScheduleBook["append"]>[0] = ({ live, over }) => {
            const state = live.get(id);
            if (what === "create") return state || over.has(id) ? [] : [scheduleRecord(id < "c" ? once(id, time) : every(id), time)];
            if (state === undefined) return [];
            if (what === "cancel") return [cancelRecord(id)];
            const next = state.dealtUpTo + 1;
            if (what === "fire") return [firedRecord({ id, at: next, entry: next, delivered: next % 2 === 0 })];
            if (what === "give up") return [givenUpRecord(id, next)];
            const [pending] = state.pending.keys();
            return pending === undefined ? [] : [deliveredRecord(id, pending)];
          };
          if (what !== "die") {
            await all[who]?.append(make);
            await model.append(make);
            continue;
          }
          // Dies in the middle of turning over, if it comes to that; another one takes its place.
          let writes = 0;
          const died = Promise.withResolvers<void>();
          const die = (): Promise<never> => {
            died.resolve();
            return new Promise(() => {});
          };
          const dying: EventLog = {
            ...log,
            append: (...request) => (++writes > dieAfter ? die() : log.append(...request)),
            delete: (id) => (++writes > dieAfter ? die() : log.delete(id)),
          };
          const book = bookOf(dying, 0);
          await Promise.race([book.append(() => []), died.promise]);
          await Promise.race([book.append(({ live }) => (live.has("a") ? [cancelRecord("a")] : [])), died.promise]);
          const survivor = bookOf(log, maxRecords);
          await survivor.refresh();
          const isGone = !survivor.table.live.has("a");
          await model.append(({ live }) => (isGone && live.has("a") ? [cancelRecord("a")] : []));
        }
        for (const book of [...all, bookOf(log, maxRecords)]) {
          await book.refresh();
          expect(stateOf(book)).toEqual(stateOf(model));
        }
      }),
      { numRuns: 60 },
    );
  });

  it("writes nothing where nobody reads any more: one who saw no log writes again when others were far ahead", async () => {
    const log = createMemoryEventLog();
    const ahead = bookOf(log, 0);
    let isEarly = true;
    // Between its look at the logs and its first append, another process begins, closes and deletes the first of them.
    const late = bookOf({
      ...log,
      append: async (...request) => {
        if (isEarly) {
          isEarly = false;
          await ahead.append(() => [scheduleRecord(once("soon", 9), 0), cancelRecord("soon")]);
          expect(await logs(log)).not.toContain("schedules/00000001");
        }
        return log.append(...request);
      },
    });
    await late.append(({ live }) => (live.has("late") ? [] : [scheduleRecord(once("late", 9), 0)]));
    await ahead.refresh();
    expect([...ahead.table.live.keys()]).toEqual(["late"]);
  });

  it("remembers what is over for a month and no longer", async () => {
    let now = 1_000_000;
    const log = createMemoryEventLog({ now: () => now });
    const book = bookOf(log, 0);
    const day = 24 * 60 * 60_000;
    const fireOnce = (name: string) =>
      book.append(() => [scheduleRecord(once(name, 9), 0), firedRecord({ id: name, at: 9, entry: 1, delivered: true })]);
    await fireOnce("old");
    now += 20 * day;
    await fireOnce("young");
    expect([...book.table.over.keys()]).toEqual(["old", "young"]);
    now += 20 * day;
    await fireOnce("new");
    expect([...book.table.over.keys()]).toEqual(["young", "new"]);
  });

  it("passes on what the log says when it fails, and can be used again", async () => {
    const log = createMemoryEventLog();
    let isDown = true;
    const failing: EventLog = {
      ...log,
      append: (...request) =>
        isDown ? Promise.reject(new LogError({ kind: "unavailable", message: "out of reach" })) : log.append(...request),
    };
    const book = bookOf(failing);
    await expect(book.append(() => [scheduleRecord(once("a", 9), 0)])).rejects.toThrow("out of reach");
    isDown = false;
    await book.append(({ live }) => (live.has("a") ? [] : [scheduleRecord(once("a", 9), 0)]));
    expect([...book.table.live.keys()]).toEqual(["a"]);
  });
});
