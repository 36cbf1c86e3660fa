import type { NewRecord } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import type { CreateEventLog } from "./create-event-log.ts";
import { failureOf } from "./failure-of.ts";
import { keysOf, recordsOf } from "./records-of.ts";
import { LOG, record } from "./sample-records.ts";

/** Many writers that do not know where the log is. */
export function describeInbox(create: CreateEventLog): void {
  describe("an inbox", () => {
    it("gives every writer a place of its own", async () => {
      await using log = await create(Date.now);
      const appended = await Promise.all(Array.from({ length: 50 }, (_, n) => log.append(LOG, "any", [record(`k${n}`)])));
      const seqs = appended.map(({ seq }) => seq);
      expect([...seqs].sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
      const records = await recordsOf(log.read(LOG));
      for (const [n, seq] of seqs.entries()) expect(records[seq - 1]?.key).toBe(`k${n}`);
    });

    it("leaves a key where it stands when it says the same again, in whatever order its members are written", async () => {
      await using log = await create(Date.now);
      await log.append(LOG, "any", [record("a", { x: 1, y: { p: [1, 2], q: null } })]);
      await log.append(LOG, "any", [record("b")]);
      expect(await log.append(LOG, "any", [record("a", { y: { q: null, p: [1, 2] }, x: 1 })], { durability: "power" })).toMatchObject({
        seq: 1,
      });
      expect(await log.append(LOG, "any", [record("a", { x: 1, y: { p: [1, 2], q: null } }), record("c")])).toMatchObject({ seq: 3 });
      expect(await log.append(LOG, "any", [record("d"), record("b")])).toMatchObject({ seq: 2 });
      expect(await keysOf(log.read(LOG))).toEqual(["a", "b", "c", "d"]);
    });

    it("refuses a key that is taken by something else, and what came with it", async () => {
      await using log = await create(Date.now);
      await log.append(LOG, "any", [record("nonce", { decision: "allow", of: [1, 2] })]);
      const others: NewRecord[] = [
        record("nonce", { decision: "deny", of: [1, 2] }),
        record("nonce", { decision: "allow", of: [2, 1] }),
        record("nonce", { decision: "allow" }),
        record("nonce", { decision: "allow", of: { 0: 1, 1: 2 } }),
        record("nonce", { decision: "allow", of: [1, 2], more: null }),
        { ...record("nonce", { decision: "allow", of: [1, 2] }), type: "other" },
      ];
      for (const other of others) {
        expect(await failureOf(log.append(LOG, "any", [record("new"), other])), JSON.stringify(other)).toMatchObject({
          kind: "conflict",
          expectedSeq: "any",
          actualSeq: 1,
        });
      }
      expect(await keysOf(log.read(LOG))).toEqual(["nonce"]);
    });
  });
}
