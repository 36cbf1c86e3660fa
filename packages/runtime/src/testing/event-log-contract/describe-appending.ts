import type { LogId, NewRecord } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import type { CreateEventLog } from "./create-event-log.ts";
import { failureOf } from "./failure-of.ts";
import { keysOf, recordsOf } from "./records-of.ts";
import { LOG, OTHER, record } from "./sample-records.ts";

/** One writer that knows where the log is, and what records there may be. */
export function describeAppending(create: CreateEventLog): void {
  describe("appending", () => {
    it("reads back what it was given, in order, with seq from 1 and the time of the append", async () => {
      await using log = await create(() => 1000);
      expect(await log.append(LOG, 0, [record("a", { n: 1 }), record("b", { n: [null, "x", { y: true }] })])).toMatchObject({ seq: 2 });
      expect(await log.append(LOG, 2, [record("c", {})])).toMatchObject({ seq: 3 });
      expect(await recordsOf(log.read(LOG))).toStrictEqual([
        { seq: 1, at: 1000, key: "a", type: "note", data: { n: 1 } },
        { seq: 2, at: 1000, key: "b", type: "note", data: { n: [null, "x", { y: true }] } },
        { seq: 3, at: 1000, key: "c", type: "note", data: {} },
      ]);
      expect(await log.head(LOG)).toBe(3);
      expect(await log.head(OTHER)).toBe(0);
    });

    it("tells the writer where the last of its records stands, and since when, also where it stood there before", async () => {
      let clock = 1000;
      await using log = await create(() => clock);
      expect(await log.append(LOG, 0, [])).toEqual({ seq: 0, at: 0 });
      expect(await log.append(LOG, 0, [record("a"), record("b")])).toEqual({ seq: 2, at: 1000 });
      clock = 500;
      expect(await log.append(LOG, 2, [record("c")])).toEqual({ seq: 3, at: 1000 });
      clock = 2000;
      expect(await log.append(LOG, "any", [record("d")])).toEqual({ seq: 4, at: 2000 });
      clock = 3000;
      expect(await log.append(LOG, 0, [record("a"), record("b")])).toEqual({ seq: 2, at: 1000 });
      expect(await log.append(LOG, "any", [record("d")])).toEqual({ seq: 4, at: 2000 });
      expect(await log.append(LOG, "any", [record("a"), record("e")])).toEqual({ seq: 5, at: 3000 });
      expect(await log.append(LOG, 5, [])).toEqual({ seq: 5, at: 3000 });
    });

    it("rejects a writer that does not know the last record, tells it where the log is, and keeps nothing", async () => {
      await using log = await create(Date.now);
      await log.append(LOG, 0, [record("a"), record("b")]);
      for (const expectedSeq of [0, 1, 3]) {
        const failure = await failureOf(log.append(LOG, expectedSeq, [record("x"), record("y")]));
        expect(failure).toMatchObject({ kind: "conflict", log: LOG, expectedSeq, actualSeq: 2 });
      }
      expect(await failureOf(log.append(OTHER, 1, [record("a")]))).toMatchObject({ kind: "conflict", expectedSeq: 1, actualSeq: 0 });
      expect(await keysOf(log.read(LOG))).toEqual(["a", "b"]);
    });

    it("lets exactly one of many writers from the same seq win", async () => {
      await using log = await create(Date.now);
      const results = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => log.append(LOG, 0, [record(`writer-${n}`)])));
      expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
      expect(await log.head(LOG)).toBe(1);
    });

    it("takes appends in the order of their calls, without waiting between them", async () => {
      await using log = await create(Date.now);
      const appended = await Promise.all(
        Array.from({ length: 20 }, (_, n) => log.append(LOG, n, [record(`k${n}`)], { durability: n % 3 === 0 ? "power" : "process" })),
      );
      expect(appended.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    });

    it("recognises an append whose acknowledgement was lost, also when others have appended since", async () => {
      await using log = await create(Date.now);
      await log.append(LOG, 0, [record("a"), record("b")]);
      expect(await log.append(LOG, 0, [record("a"), record("b")], { durability: "power" })).toMatchObject({ seq: 2 });
      await log.append(LOG, 2, [record("c")]);
      expect(await log.append(LOG, 0, [record("a"), record("b")])).toMatchObject({ seq: 2 });
      expect(await log.append(LOG, 1, [record("b"), record("c")])).toMatchObject({ seq: 3 });
      expect(await failureOf(log.append(LOG, 1, [record("b"), record("c"), record("d")]))).toMatchObject({ kind: "conflict" });
      expect(await failureOf(log.append(LOG, 0, [record("b"), record("a")]))).toMatchObject({ kind: "conflict" });
      expect(await keysOf(log.read(LOG))).toEqual(["a", "b", "c"]);
    });

    it("refuses a key that stands at another place of the log, with all that came with it", async () => {
      await using log = await create(Date.now);
      await log.append(LOG, 0, [record("a")]);
      expect(await failureOf(log.append(LOG, 1, [record("b"), record("a")]))).toMatchObject({ kind: "conflict", actualSeq: 1 });
      expect(await keysOf(log.read(LOG))).toEqual(["a"]);
      expect(await log.append(OTHER, 0, [record("a")])).toMatchObject({ seq: 1 });
      expect(await log.append(LOG, 1, [record("b")])).toMatchObject({ seq: 2 });
    });

    it("checks and changes nothing when there are no records", async () => {
      await using log = await create(Date.now);
      expect(await log.append(LOG, 0, [])).toMatchObject({ seq: 0 });
      await log.append(LOG, 0, [record("a")]);
      expect(await log.append(LOG, 1, [])).toMatchObject({ seq: 1 });
      expect(await log.append(LOG, "any", [])).toMatchObject({ seq: 1 });
      expect(await failureOf(log.append(LOG, 0, []))).toMatchObject({ kind: "conflict", actualSeq: 1 });
      expect(await keysOf(log.read(LOG))).toEqual(["a"]);
    });

    it("keeps its records whatever callers and readers do with their objects", async () => {
      await using log = await create(Date.now);
      const data = { list: [1] };
      await log.append(LOG, 0, [{ key: "a", type: "note", data }]);
      data.list.push(2);
      const [first] = await recordsOf(log.read(LOG));
      (first?.data["list"] as number[]).push(3);
      expect((await recordsOf(log.read(LOG)))[0]?.data).toStrictEqual({ list: [1] });
    });

    it("never lets time run backwards within a log", async () => {
      let clock = 5000;
      await using log = await create(() => clock);
      await log.append(LOG, 0, [record("a")]);
      clock = 10;
      await log.append(LOG, 1, [record("b")]);
      await log.append(LOG, "any", [record("c")]);
      clock = 6000;
      await log.append(LOG, 3, [record("d")]);
      clock = 20;
      await log.append(OTHER, 0, [record("a")]);
      expect((await recordsOf(log.read(LOG))).map(({ at }) => at)).toEqual([5000, 5000, 5000, 6000]);
      expect((await recordsOf(log.read(OTHER))).map(({ at }) => at)).toEqual([20]);
    });

    it("takes the time that copied records are said to stand since, or says which time they have", async () => {
      await using log = await create(() => 5000);
      const first = await log.append(LOG, 0, [record("a")], { at: 1000 });
      expect([1000, 5000]).toContain(first.at);
      const second = await log.append(LOG, "any", [record("b")], { at: 500 });
      expect(second.at).toBe(first.at === 1000 ? 1000 : 5000);
      await log.append(LOG, 2, [record("c")]);
      expect((await recordsOf(log.read(LOG))).map(({ at }) => at)).toEqual([first.at, second.at, 5000]);
      if (first.at === 1000)
        for (const at of [-1, 0.5, Number.NaN])
          expect(await failureOf(log.append(LOG, 3, [record("d")], { at }))).toMatchObject({ kind: "invalid-input" });
    });

    it("keeps odd strings and a record of several MiB as they are", async () => {
      await using log = await create(Date.now);
      const odd = "\u0000 \ud83d\ude00 \u2028 \"\\' __proto__";
      const data = JSON.parse(`{"__proto__": 1, "lone": "\\ud800", "nul": "a\\u0000b"}`) as NewRecord["data"];
      const large = { text: "é€😀x".repeat(700_000) };
      await log.append(odd as LogId, 0, [
        { key: odd, type: odd, data },
        { key: "__proto__", type: "constructor", data: large },
      ]);
      const records = await recordsOf(log.read(odd as LogId));
      expect(records.map(({ key, type }) => [key, type])).toEqual([
        [odd, odd],
        ["__proto__", "constructor"],
      ]);
      expect(JSON.stringify(records[0]?.data)).toBe(JSON.stringify(data));
      expect(records[1]?.data["text"] === large.text).toBe(true);
      expect(await log.append(odd as LogId, 0, [{ key: odd, type: odd, data }])).toMatchObject({ seq: 1 });
    });

    it("refuses what is no record before anything is kept", async () => {
      await using log = await create(Date.now);
      const cyclic: Record<string, unknown> = {};
      cyclic["self"] = cyclic;
      const bad: NewRecord[] = [
        { key: "", type: "note", data: {} },
        { key: "lone \ud800", type: "note", data: {} },
        { key: "x", type: "", data: {} },
        // @ts-expect-error: it is no JSON object
        { key: "x", type: "note", data: undefined },
        // @ts-expect-error: it is no JSON object
        { key: "x", type: "note", data: [] },
        // @ts-expect-error: it is no JSON object
        { key: "x", type: "note", data: cyclic },
        // @ts-expect-error: it is no JSON object
        { key: "x", type: "note", data: { big: 1n } },
      ];
      for (const one of bad)
        expect(await failureOf(log.append(LOG, 0, [record("good"), one])), JSON.stringify(one.key)).toMatchObject({
          kind: "invalid-input",
        });
      expect(await failureOf(log.append(LOG, 0, [record("twice"), record("twice")]))).toMatchObject({ kind: "invalid-input" });
      expect(await failureOf(log.append("" as LogId, 0, [record("a")]))).toMatchObject({ kind: "invalid-input" });
      for (const seq of [-1, 0.5, Number.NaN])
        expect(await failureOf(log.append(LOG, seq, [record("a")]))).toMatchObject({ kind: "invalid-input" });
      expect(await log.head(LOG)).toBe(0);
    });
  });
}
