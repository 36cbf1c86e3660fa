import type { EventLog, JsonObject } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import type { CreateEventLog } from "./create-event-log.ts";
import { failureOf } from "./failure-of.ts";
import { recordsOf } from "./records-of.ts";
import { LOG, OTHER, record } from "./sample-records.ts";

/** What appends say of a log, for those who list it. */
export function describeSummaries(create: CreateEventLog): void {
  describe("summaries", () => {
    it("are listed with their log, and none with a log that has none", async () => {
      await using log = await create(() => 7);
      const summary = { name: "\u0000 é 😀", n: [1, { yes: true }], none: null };
      await log.append(LOG, 0, [record("a")], { summary });
      await log.append(OTHER, 0, [record("a")]);
      expect(await log.list()).toEqual([
        { log: LOG, head: 1, updatedAt: 7, summary },
        { log: OTHER, head: 1, updatedAt: 7 },
      ]);
    });

    it("last until the next record: that one brings its own, or takes it away", async () => {
      await using log = await create(Date.now);
      await log.append(LOG, 0, [record("a"), record("b")], { summary: { n: 1 } });
      await log.append(LOG, 2, [record("c")], { summary: { n: 2 }, durability: "power" });
      expect(await summaryOf(log)).toEqual({ n: 2 });
      await log.append(LOG, "any", [record("d")], { summary: { n: 3 } });
      expect(await summaryOf(log)).toEqual({ n: 3 });
      await log.append(LOG, "any", [record("c"), record("e"), record("a")], { summary: { n: 4 } });
      expect(await summaryOf(log)).toEqual({ n: 4 });
      await log.append(LOG, 5, [record("f")]);
      expect(await summaryOf(log)).toBeUndefined();
    });

    it("are kept without a record, where the log has one and is where the writer knows it to be", async () => {
      await using log = await create(Date.now);
      await log.append(LOG, 0, [], { summary: { n: 0 } });
      expect(await log.list()).toEqual([]);
      await log.append(LOG, 0, [record("a")]);
      expect(await summaryOf(log)).toBeUndefined();
      expect(await log.append(LOG, 1, [], { summary: { n: 1 } })).toMatchObject({ seq: 1 });
      expect(await summaryOf(log)).toEqual({ n: 1 });
      expect(await failureOf(log.append(LOG, 0, [], { summary: { n: 2 } }))).toMatchObject({ kind: "conflict" });
      await log.append(LOG, 1, []);
      expect(await summaryOf(log)).toEqual({ n: 1 });
      expect(await recordsOf(log.read(LOG))).toHaveLength(1);
    });

    it("stay as they are when an append is refused, or finds all its records in the log", async () => {
      await using log = await create(() => 0);
      const lease = await log.acquire(LOG, { owner: "me", ttlMs: 100 });
      await log.append(LOG, 0, [record("a")], { epoch: lease.epoch, summary: { n: 1 } });
      await log.append(LOG, 1, [record("b")], { epoch: lease.epoch, summary: { n: 2 } });
      expect(await log.append(LOG, 0, [record("a")], { summary: { n: 1 } })).toMatchObject({ seq: 1 });
      expect(await log.append(LOG, "any", [record("a")], { summary: { n: 1 } })).toMatchObject({ seq: 1 });
      for (const refused of [
        log.append(LOG, 1, [record("x")], { summary: { n: 3 } }),
        log.append(LOG, 2, [record("a")], { summary: { n: 3 } }),
        log.append(LOG, 2, [], { epoch: lease.epoch + 1, summary: { n: 3 } }),
      ])
        await failureOf(refused);
      expect(await summaryOf(log)).toEqual({ n: 2 });
    });

    it("are given away as records are, end with their log, and must be JSON objects", async () => {
      await using log = await create(Date.now);
      const summary = { list: [1] };
      await log.append(LOG, 0, [record("a")], { summary });
      summary.list.push(2);
      ((await summaryOf(log))?.["list"] as number[]).push(3);
      expect(await summaryOf(log)).toEqual({ list: [1] });
      for (const summary of [[], "text", { big: 1n }]) {
        // @ts-expect-error: it is no JSON object
        const appended = log.append(LOG, 1, [record("b")], { summary });
        expect(await failureOf(appended)).toMatchObject({ kind: "invalid-input" });
      }
      expect(await log.head(LOG)).toBe(1);
      await log.delete(LOG);
      await log.append(LOG, 0, [record("a")]);
      expect(await summaryOf(log)).toBeUndefined();
    });
  });
}

async function summaryOf(log: EventLog): Promise<JsonObject | undefined> {
  const [info] = await log.list({ prefix: LOG });
  return info?.summary;
}
