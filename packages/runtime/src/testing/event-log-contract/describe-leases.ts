import { describe, expect, it } from "vitest";
import type { CreateEventLog } from "./create-event-log.ts";
import { failureOf } from "./failure-of.ts";
import { keysOf } from "./records-of.ts";
import { LOG, OTHER, record } from "./sample-records.ts";

/** Who may write. */
export function describeLeases(create: CreateEventLog): void {
  describe("leases", () => {
    it("keeps others out while one holds it, and fences off whoever lost it", async () => {
      let clock = 1000;
      await using log = await create(() => clock);
      const first = await log.acquire(LOG, { owner: "first", ttlMs: 100 });
      expect(first).toMatchObject({ log: LOG, owner: "first" });
      await log.append(LOG, 0, [record("a")], { epoch: first.epoch });
      expect(await failureOf(log.acquire(LOG, { owner: "second", ttlMs: 100 }))).toMatchObject({
        kind: "lease-held",
        log: LOG,
        owner: "first",
        expiresAt: 1100,
      });

      clock = 1099;
      await first.renew();
      clock = 1198;
      expect(await failureOf(log.acquire(LOG, { owner: "second", ttlMs: 100 }))).toMatchObject({ kind: "lease-held", expiresAt: 1199 });

      clock = 1199;
      // Expired, but nobody has taken over: it still writes.
      await log.append(LOG, 1, [record("b")], { epoch: first.epoch });
      const second = await log.acquire(LOG, { owner: "second", ttlMs: 100 });
      expect(second.epoch).toBeGreaterThan(first.epoch);
      expect(await failureOf(log.append(LOG, 2, [record("c")], { epoch: first.epoch }))).toMatchObject({
        kind: "stale-epoch",
        log: LOG,
        epoch: first.epoch,
        currentEpoch: second.epoch,
      });
      expect(await failureOf(log.append(LOG, 2, [], { epoch: first.epoch }))).toMatchObject({ kind: "stale-epoch" });
      expect(await failureOf(log.append(LOG, 1, [record("b")], { epoch: first.epoch }))).toMatchObject({ kind: "stale-epoch" });
      expect(await failureOf(first.renew())).toMatchObject({ kind: "stale-epoch" });
      await first.release();
      await log.append(LOG, 2, [record("c")], { epoch: second.epoch });
      expect(await keysOf(log.read(LOG))).toEqual(["a", "b", "c"]);
    });

    it("says whether the holder before gave it back", async () => {
      let clock = 0;
      await using log = await create(() => clock);
      const first = await log.acquire(LOG, { owner: "first", ttlMs: 100 });
      expect(first.tookOver).toBe(false);
      await first.release();
      expect((await log.acquire(LOG, { owner: "second", ttlMs: 100 })).tookOver).toBe(false);
      clock = 1000;
      const third = await log.acquire(LOG, { owner: "third", ttlMs: 100 });
      expect(third.tookOver).toBe(true);
      await third.release();
      expect((await log.acquire(LOG, { owner: "fourth", ttlMs: 100 })).tookOver).toBe(false);
    });

    it("gives the same owner a new epoch", async () => {
      await using log = await create(() => 0);
      const first = await log.acquire(LOG, { owner: "me", ttlMs: 100 });
      const second = await log.acquire(LOG, { owner: "me", ttlMs: 100 });
      expect(second.epoch).toBeGreaterThan(first.epoch);
      expect(await failureOf(log.append(LOG, 0, [record("a")], { epoch: first.epoch }))).toMatchObject({ kind: "stale-epoch" });
      expect(await log.append(LOG, 0, [record("a")], { epoch: second.epoch })).toMatchObject({ seq: 1 });
    });

    it("gives it back by release or disposal; a released epoch writes no more", async () => {
      await using log = await create(() => 0);
      const first = await log.acquire(LOG, { owner: "first", ttlMs: 100 });
      await first.release();
      await first.release();
      expect(await failureOf(log.append(LOG, 0, [record("a")], { epoch: first.epoch }))).toMatchObject({ kind: "stale-epoch" });
      expect(await failureOf(first.renew())).toMatchObject({ kind: "stale-epoch" });
      {
        await using second = await log.acquire(LOG, { owner: "second", ttlMs: 100 });
        expect(second.epoch).toBeGreaterThan(first.epoch);
      }
      await log.acquire(LOG, { owner: "third", ttlMs: 100 });
    });

    it("holds one log only, and never repeats an epoch, not even after the log was deleted", async () => {
      await using log = await create(() => 0);
      const lease = await log.acquire(LOG, { owner: "me", ttlMs: 100 });
      expect(await log.append(OTHER, 0, [record("a")])).toMatchObject({ seq: 1 });
      expect(await failureOf(log.append(OTHER, 1, [record("b")], { epoch: lease.epoch }))).toMatchObject({ kind: "stale-epoch" });
      await log.append(LOG, 0, [record("a")], { epoch: lease.epoch });
      await log.delete(LOG);
      expect(await failureOf(log.append(LOG, 0, [record("a")], { epoch: lease.epoch }))).toMatchObject({ kind: "stale-epoch" });
      const next = await log.acquire(LOG, { owner: "other", ttlMs: 100 });
      expect(next.epoch).toBeGreaterThan(lease.epoch);
    });

    it("does not stay locked when the clock is set back", async () => {
      let clock = 1_000_000;
      await using log = await create(() => clock);
      await log.acquire(LOG, { owner: "first", ttlMs: 100 });
      clock = 50;
      expect(await failureOf(log.acquire(LOG, { owner: "second", ttlMs: 100 }))).toMatchObject({ kind: "lease-held", expiresAt: 150 });
      clock = 150;
      await log.acquire(LOG, { owner: "second", ttlMs: 100 });
    });

    it("refuses a lease without owner or length", async () => {
      await using log = await create(() => 0);
      for (const request of [
        { owner: "", ttlMs: 100 },
        { owner: "me", ttlMs: 0 },
        { owner: "me", ttlMs: Number.NaN },
      ]) {
        expect(await failureOf(log.acquire(LOG, request))).toMatchObject({ kind: "invalid-input" });
      }
    });
  });
}
