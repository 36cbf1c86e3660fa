import { type Lease, LogError, type LogId } from "@keelson/protocol";
import { assertName } from "./encoded-record.ts";
import { assertEpoch, assertLeaseRequest, createLease, leaseEnd, leaseHeld, type LeaseState } from "./lease-state.ts";
import { isDeadOwner } from "./process-owner.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

const FIND_LEASE = "SELECT epoch, owner, ttl_ms AS ttlMs, expires_at AS expiresAt FROM logs WHERE name = ?";
const NEXT_EPOCH = "UPDATE counters SET last_epoch = last_epoch + 1 RETURNING last_epoch";
const TAKE_LEASE = `
  INSERT INTO logs (name, epoch, owner, ttl_ms, expires_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch, owner = excluded.owner, ttl_ms = excluded.ttl_ms, expires_at = excluded.expires_at
  RETURNING id`;
const SET_END = "UPDATE logs SET expires_at = ? WHERE name = ?";
const RELEASE = "UPDATE logs SET owner = NULL WHERE name = ? AND epoch = ?";

/** `epoch` is null where nobody ever held one. */
type LeaseRow = Omit<LeaseState, "epoch"> & { readonly epoch: number | null };

function leaseIn(row: LeaseRow | undefined): LeaseState | undefined {
  return row === undefined || row.epoch === null ? undefined : { ...row, epoch: row.epoch };
}

/** The leases of the logs of one database, and which of them were taken through this object. */
export interface SqliteLeases {
  acquire(log: LogId, request: { readonly owner: string; readonly ttlMs: number }): Promise<Lease>;
  releaseAll(): Promise<void>;
}

export function createSqliteLeases(of: {
  readonly database: SqliteDatabase;
  readonly now: () => number;
  readonly busyTimeoutMs: number;
  assertOpen(): void;
}): SqliteLeases {
  const { database, now, busyTimeoutMs, assertOpen } = of;
  const release = database.prepare(RELEASE);
  const held = new Map<number, LogId>();
  const write = <T>(work: () => T): Promise<T> => database.write("process", work, busyTimeoutMs);
  const findRow = (log: LogId): LeaseRow | undefined => database.prepare(FIND_LEASE).get(log) as unknown as LeaseRow | undefined;

  /** The new epoch, or why there is none. A refusal is a value here, since what it wrote down must be committed. */
  function take(log: LogId, owner: string, ttlMs: number): number | LogError {
    const at = now();
    const row = findRow(log);
    const lease = leaseIn(row);
    if (lease !== undefined && lease.owner !== null && lease.owner !== owner && !isDeadOwner(lease.owner)) {
      const expiresAt = leaseEnd(lease, at);
      if (expiresAt > at) {
        if (expiresAt !== lease.expiresAt) database.prepare(SET_END).run(expiresAt, log);
        return leaseHeld(log, lease.owner, expiresAt);
      }
    }
    const epoch = database.prepare(NEXT_EPOCH).get()?.["last_epoch"] as number;
    const id = database.prepare(TAKE_LEASE).get(log, epoch, owner, ttlMs, at + ttlMs)?.["id"] as number;
    if (row === undefined) database.known.created(log, id);
    database.known.leased(log, epoch, owner);
    return epoch;
  }

  function giveBack(log: LogId, epoch: number): void {
    if (release.run(log, epoch).changes > 0) database.known.leased(log, epoch, null);
  }

  /** In one statement, where nobody else writes just now. */
  function gaveBack(log: LogId, epoch: number): boolean {
    const isDone = database.tryWrite("process", release, log, epoch);
    if (isDone) database.known.leased(log, epoch, null);
    return isDone;
  }

  return {
    async acquire(log, request) {
      assertOpen();
      assertName(log, "The id of a log");
      assertLeaseRequest(log, request);
      const { owner, ttlMs } = request;
      const epoch = await write(() => take(log, owner, ttlMs));
      if (LogError.is(epoch)) throw epoch;
      held.set(epoch as number, log);
      database.known.hold(log);
      return createLease({
        log,
        owner,
        epoch: epoch as number,
        async renew() {
          assertOpen();
          await write(() => {
            assertEpoch(log, epoch as number, leaseIn(findRow(log)));
            database.prepare(SET_END).run(now() + ttlMs, log);
          });
        },
        async release() {
          // Disposing the log has released it already.
          if (!held.delete(epoch as number)) return;
          database.known.letGo(log);
          if (!gaveBack(log, epoch as number)) await write(() => giveBack(log, epoch as number));
        },
      });
    },
    async releaseAll() {
      if (held.size === 0) return;
      const leases = [...held];
      held.clear();
      for (const [, log] of leases) database.known.letGo(log);
      await write(() => {
        for (const [epoch, log] of leases) giveBack(log, epoch);
      });
    },
  };
}
