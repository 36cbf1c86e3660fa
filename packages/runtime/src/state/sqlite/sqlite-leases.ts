import { type Lease, LogError, type LogId } from "@keelson/protocol";
import { assertName } from "../kit/encoded-record.ts";
import { assertEpoch, assertLeaseRequest, createLease, leaseEnd, leaseHeld, type LeaseState } from "../kit/lease-state.ts";
import { isDeadOwner } from "../kit/process-owner.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

const FIND_LEASE = "SELECT epoch, owner, ttl_ms AS ttlMs, expires_at AS expiresAt FROM logs WHERE name = ?";
/** Nothing, where the log is there already, or others may have taken a later epoch. */
const TAKE_NEW = `
  INSERT INTO logs (name, epoch, owner, ttl_ms, expires_at) SELECT ?1, ?2, ?3, ?4, ?5 FROM counters WHERE last_epoch = ?6
  ON CONFLICT (name) DO NOTHING`;
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
  const takeNew = database.prepare(TAKE_NEW);
  const held = new Map<number, LogId>();
  const write = <T>(work: () => T): Promise<T> => database.write("process", work, busyTimeoutMs);
  const findRow = (log: LogId): LeaseRow | undefined => database.prepare(FIND_LEASE).get(log) as LeaseRow | undefined;

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
    const epoch = database.epochs.take();
    const id = database.prepare(TAKE_LEASE).get(log, epoch, owner, ttlMs, at + ttlMs)?.["id"] as number;
    if (row === undefined) database.known.created(log, id);
    database.known.leased(log, epoch, owner);
    return epoch;
  }

  /** What comes of most acquisitions, in one statement: the lease of a log that is new. */
  function tookNew(log: LogId, owner: string, ttlMs: number): number | undefined {
    const { known, epochs } = database;
    if (epochs.next > epochs.last || known.lastKnown(log) !== undefined) return undefined;
    const epoch = epochs.next;
    const added = database.tryWrite("process", takeNew, log, epoch, owner, ttlMs, now() + ttlMs, epochs.last);
    if (added === undefined) return undefined;
    epochs.next++;
    known.created(log, Number(added.lastInsertRowid));
    known.leased(log, epoch, owner);
    return epoch;
  }

  function giveBack(log: LogId, epoch: number): void {
    if (release.run(log, epoch).changes > 0) database.known.leased(log, epoch, null);
  }

  /** In one statement, where nobody else writes just now. */
  function gaveBack(log: LogId, epoch: number): boolean {
    const isDone = database.tryWrite("process", release, log, epoch) !== undefined;
    if (isDone) database.known.leased(log, epoch, null);
    return isDone;
  }

  return {
    async acquire(log, request) {
      assertOpen();
      assertName(log, "The id of a log");
      assertLeaseRequest(log, request);
      const { owner, ttlMs } = request;
      const taken = tookNew(log, owner, ttlMs) ?? (await write(() => take(log, owner, ttlMs)));
      if (LogError.is(taken)) throw taken;
      const epoch = taken as number;
      held.set(epoch, log);
      database.known.hold(log);
      return createLease({
        log,
        owner,
        epoch,
        async renew() {
          assertOpen();
          await write(() => {
            assertEpoch(log, epoch, leaseIn(findRow(log)));
            database.prepare(SET_END).run(now() + ttlMs, log);
          });
        },
        async release() {
          // Disposing the log has released it already.
          if (!held.delete(epoch)) return;
          database.known.letGo(log);
          if (!gaveBack(log, epoch)) await write(() => giveBack(log, epoch));
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
