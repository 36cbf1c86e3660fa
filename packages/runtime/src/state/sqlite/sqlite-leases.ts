import { type Lease, LogError, type LogId } from "@keelson/protocol";
import { assertName } from "../kit/encoded-record.ts";
import { assertEpoch, assertLeaseRequest, createLease, leaseHeld, type LeaseState, otherHolder } from "../kit/lease-state.ts";
import { isDeadOwner } from "../../platform/process-owner.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

const FIND_LEASE = "SELECT epoch, owner, ttl_ms AS ttlMs, expires_at AS expiresAt FROM logs WHERE name = ?";
/** Nothing, where the log is there already, or others may have taken a later epoch. */
const TAKE_NEW = `
  INSERT INTO logs (name, epoch, owner, ttl_ms, expires_at) SELECT ?1, ?2, ?3, ?4, ?5 FROM counters WHERE last_epoch = ?6
  ON CONFLICT (name) DO NOTHING`;
const TAKE_LEASE = `
  INSERT INTO logs (name, epoch, owner, ttl_ms, expires_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch, owner = excluded.owner, ttl_ms = excluded.ttl_ms, expires_at = excluded.expires_at`;
const SET_END = "UPDATE logs SET expires_at = ? WHERE name = ?";
const RELEASE = "UPDATE logs SET owner = NULL WHERE name = ? AND epoch = ?";

/** `epoch` is null where nobody ever held one. */
type LeaseRow = Omit<LeaseState, "epoch"> & { readonly epoch: number | null };

function leaseIn(row: LeaseRow | undefined): LeaseState | undefined {
  return row === undefined || row.epoch === null ? undefined : { ...row, epoch: row.epoch };
}

/** A lease that was taken, and the one before it. */
interface Taken {
  readonly epoch: number;
  readonly before: LeaseState | undefined;
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
  function take(log: LogId, owner: string, ttlMs: number): Taken | LogError {
    const at = now();
    const row = findRow(log);
    const lease = leaseIn(row);
    const other = otherHolder(lease, owner, at, isDeadOwner);
    if (other !== undefined) {
      if (other.expiresAt !== lease?.expiresAt) database.prepare(SET_END).run(other.expiresAt, log);
      return leaseHeld(log, other.owner, other.expiresAt);
    }
    const epoch = database.epochs.take();
    database.prepare(TAKE_LEASE).run(log, epoch, owner, ttlMs, at + ttlMs);
    return { epoch, before: lease };
  }

  /** What comes of most acquisitions, in one statement: the lease of a log that is new. */
  function tookNew(log: LogId, owner: string, ttlMs: number): Taken | undefined {
    const { epochs } = database;
    if (epochs.next > epochs.last) return undefined;
    const epoch = epochs.next;
    if (!database.tryWrite("process", takeNew, log, epoch, owner, ttlMs, now() + ttlMs, epochs.last)) return undefined;
    epochs.next++;
    return { epoch, before: undefined };
  }

  return {
    async acquire(log, request) {
      assertOpen();
      assertName(log, "The id of a log");
      assertLeaseRequest(log, request);
      const { owner, ttlMs } = request;
      const taken = tookNew(log, owner, ttlMs) ?? (await write(() => take(log, owner, ttlMs)));
      if (LogError.is(taken)) throw taken;
      const { epoch, before } = taken;
      held.set(epoch, log);
      return createLease({
        log,
        owner,
        epoch,
        before,
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
          // In one statement, where nobody else writes just now.
          if (!database.tryWrite("process", release, log, epoch)) await write(() => release.run(log, epoch));
        },
      });
    },
    async releaseAll() {
      if (held.size === 0) return;
      const leases = [...held];
      held.clear();
      await write(() => {
        for (const [epoch, log] of leases) release.run(log, epoch);
      });
    },
  };
}
