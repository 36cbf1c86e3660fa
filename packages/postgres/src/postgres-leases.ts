import { type Lease, LogError, type LogId } from "@keelson/protocol";
import { isDeadOwner } from "keelson/state";
import { assertEpoch, assertLeaseRequest, assertName, createLease, leaseHeld, type LeaseState, otherHolder } from "keelson/state/kit";
import type { PostgresDatabase } from "./postgres-database.ts";
import { clockOf, leaseIn } from "./postgres-log-statements.ts";
import { storedName } from "./stored-name.ts";

/** The leases of the logs of one database, and which of them were taken through this object. */
export interface PostgresLeases {
  acquire(log: LogId, request: { readonly owner: string; readonly ttlMs: number }): Promise<Lease>;
  releaseAll(): Promise<void>;
}

/** So often somebody else may be faster before it is said that the log is busy. */
const ATTEMPTS = 50;

export function createPostgresLeases(of: {
  readonly database: PostgresDatabase;
  readonly now: (() => number) | undefined;
  assertOpen(): void;
}): PostgresLeases {
  const { database, now, assertOpen } = of;
  const { schema } = database;
  const clock = clockOf(now);
  const held = new Map<number, LogId>();
  const find = `SELECT l.epoch, l.owner, l.ttl_ms, l.expires_at, clock.now
    FROM (SELECT ${clock.sql} AS now) AS clock LEFT JOIN ${schema}.logs l ON l.name = $2::text`;
  // The look and this decide together: it takes the lease only as it was seen.
  const take = `
    INSERT INTO ${schema}.logs AS l (name, epoch, owner, ttl_ms, expires_at)
    VALUES ($2::text, nextval('${schema}.epochs'), $3::text, $4::text::bigint, ${clock.sql} + $4::text::bigint)
    ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch, owner = excluded.owner, ttl_ms = excluded.ttl_ms, expires_at = excluded.expires_at
      WHERE l.epoch IS NOT DISTINCT FROM $5::text::bigint AND l.owner IS NOT DISTINCT FROM $6::text AND l.expires_at IS NOT DISTINCT FROM $7::text::bigint
    RETURNING epoch`;
  const shorten = `UPDATE ${schema}.logs SET expires_at = $3::text::bigint WHERE name = $1::text AND epoch = $2::text::bigint AND expires_at > $3::text::bigint`;
  const renew = `UPDATE ${schema}.logs SET expires_at = ${clock.sql} + ttl_ms WHERE name = $2::text AND epoch = $3::text::bigint AND owner IS NOT NULL RETURNING epoch`;
  const release = `UPDATE ${schema}.logs SET owner = NULL WHERE name = $1::text AND epoch = $2::text::bigint`;

  async function acquire(log: LogId, owner: string, ttlMs: number): Promise<Lease> {
    let first: LeaseState | undefined;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const [row] = await database.query(find, [clock.value(), storedName(log)]);
      const before = row && leaseIn(row);
      if (attempt === 0) first = before;
      const other = otherHolder(before, owner, Number(row?.["now"]), isDeadOwner);
      if (other !== undefined) {
        // The clock was set back: from now on the lease ends when it says.
        if (before !== undefined && other.expiresAt < before.expiresAt)
          await database.query(shorten, [storedName(log), String(before.epoch), String(other.expiresAt)]);
        throw leaseHeld(log, other.owner, other.expiresAt);
      }
      const seen =
        before === undefined ? [null, null, null] : [String(before.epoch), row?.["owner"] as string | null, String(before.expiresAt)];
      const [taken] = await database.query(take, [clock.value(), storedName(log), storedName(owner), String(ttlMs), ...seen]);
      // Where the word of an attempt was lost with its connection, the lease that stands there is this one.
      if (taken !== undefined) return leaseOf(log, owner, Number(taken["epoch"]), before?.owner === owner ? first : before);
    }
    throw new LogError({
      kind: "unavailable",
      message: `The lease on log "${log}" changed hands again and again while it was taken. Try again.`,
    });
  }

  function leaseOf(log: LogId, owner: string, epoch: number, before: LeaseState | undefined): Lease {
    held.set(epoch, log);
    return createLease({
      log,
      owner,
      epoch,
      before,
      async renew() {
        assertOpen();
        const renewed = await database.query(renew, [clock.value(), storedName(log), String(epoch)]);
        if (renewed.length > 0) return;
        const [row] = await database.query(find, [clock.value(), storedName(log)]);
        assertEpoch(log, epoch, row && leaseIn(row));
      },
      async release() {
        // Disposing the log has released it already.
        if (held.delete(epoch)) await database.query(release, [storedName(log), String(epoch)]);
      },
    });
  }

  return {
    async acquire(log, request) {
      assertOpen();
      assertName(log, "The id of a log");
      assertLeaseRequest(log, request);
      return acquire(log, request.owner, request.ttlMs);
    },
    async releaseAll() {
      const leases = [...held];
      held.clear();
      for (const [epoch, log] of leases) await database.query(release, [storedName(log), String(epoch)]);
    },
  };
}
