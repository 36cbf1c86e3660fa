import { LogError, type Lease, type LogId } from "@keelson/protocol";

/** What a backend keeps of a lease. `owner` is null once it was released; the epoch stays, so that it is not used again. */
export interface LeaseState {
  readonly epoch: number;
  readonly owner: string | null;
  readonly ttlMs: number;
  readonly expiresAt: number;
}

/** Somebody else holds the lease, until then. */
export interface LeaseHeld {
  readonly owner: string;
  /** Unix ms. A backend stores it where it is earlier than what stands there. */
  readonly expiresAt: number;
}

/** Who keeps this owner from taking the lease now. Its own lease, a released or ended one and that of a dead owner keep nobody. */
export function otherHolder(
  lease: LeaseState | undefined,
  owner: string,
  now: number,
  isDead: (owner: string) => boolean = () => false,
): LeaseHeld | undefined {
  if (lease === undefined || lease.owner === null || lease.owner === owner || isDead(lease.owner)) return undefined;
  // A clock that was set back must not keep a log locked: from whatever `now` is, a lease ends after one `ttlMs` at the latest.
  const expiresAt = Math.min(lease.expiresAt, now + lease.ttlMs);
  return expiresAt > now ? { owner: lease.owner, expiresAt } : undefined;
}

/** @throws LogError `stale-epoch` unless `epoch` is that of the present holder. */
export function assertEpoch(log: LogId, epoch: number, lease: LeaseState | undefined): void {
  if (lease !== undefined && lease.epoch === epoch && lease.owner !== null) return;
  const currentEpoch = lease?.epoch ?? 0;
  const reason =
    lease === undefined
      ? "nobody holds a lease on it"
      : lease.epoch === epoch
        ? "that lease was released"
        : `epoch ${currentEpoch} has taken over`;
  throw new LogError({
    kind: "stale-epoch",
    log,
    epoch,
    currentEpoch,
    message: `Epoch ${epoch} may not write to log "${log}": ${reason}. Stop writing, and acquire the log again to go on.`,
  });
}

export function leaseHeld(log: LogId, owner: string, expiresAt: number): LogError {
  return new LogError({
    kind: "lease-held",
    log,
    owner,
    expiresAt,
    message: `Log "${log}" is held by ${owner} until ${new Date(expiresAt).toISOString()}. Wait for it to end, or stop that process.`,
  });
}

/** @throws LogError `invalid-input` */
export function assertLeaseRequest(log: LogId, { owner, ttlMs }: { readonly owner: string; readonly ttlMs: number }): void {
  if (typeof owner === "string" && owner.length > 0 && owner.isWellFormed() && Number.isSafeInteger(ttlMs) && ttlMs > 0) return;
  throw new LogError({
    kind: "invalid-input",
    message: `A lease on log "${log}" needs an owner that is not empty and a ttlMs that is a positive whole number; it got ${JSON.stringify(owner)} and ${ttlMs}.`,
  });
}

export function createLease(lease: {
  readonly log: LogId;
  readonly epoch: number;
  readonly owner: string;
  /** What the backend kept of the lease before this one. */
  readonly before: LeaseState | undefined;
  readonly renew: () => Promise<void>;
  readonly release: () => Promise<void>;
}): Lease {
  const { log, epoch, owner, before, renew, release } = lease;
  const tookOver = before !== undefined && before.owner !== null;
  return { log, epoch, owner, tookOver, renew, release, [Symbol.asyncDispose]: release };
}
