import { AgentError, LogError, sessionLog, type Lease, type SessionId } from "@keelson/protocol";
import { keepLease } from "../keep-lease.ts";
import { atAgentBoundary } from "../log-failure.ts";
import type { SessionsOptions } from "../sessions-options.ts";
import { removeSessions } from "./delete-session.ts";
import { problemWithRemembered } from "./remembered-in-logs.ts";
import type { RemovedBlobs } from "./remove-blobs.ts";
import { checkSealing, NOTHING_SEALED, type SealedSessions, sealSessions } from "./seal-sessions.ts";
import { bytesOfSession } from "./session-bytes.ts";
import { type SurveyedSession, surveySessions } from "./survey-sessions.ts";

/** Which sessions may go, and which become smaller. Those of child runs go with the session that they belong to. */
export interface RetentionPolicy {
  /** Those in which nothing has happened for longer than this. */
  readonly maxAgeMs?: number | undefined;
  /**
   * Those that do not fit: what must stay is counted first, then the others, the newest first, until records and blobs of all come to more
   * bytes than this; that one and all that are older may go. Every session is read for it.
   */
  readonly maxBytes?: number | undefined;
  /**
   * Those in which nothing has happened for longer than this, and that stay, have their records sealed: nothing changes but the space that they take.
   * For a log that can (`EventLog.seal`).
   */
  readonly sealAfterMs?: number | undefined;
  /** Keeps a session elsewhere, such as in a file by `exportSession`. Awaited before it is deleted, while nobody can work on it; where it rejects, the session stays. */
  readonly archive?: ((session: SessionId) => Promise<void>) | undefined;
  /** Only says what would go, and seals nothing. Default false. */
  readonly dryRun?: boolean | undefined;
}

export interface RetiredSession {
  readonly session: SessionId;
  readonly reason: "age" | "size";
  /** Unix ms. */
  readonly idleSince: number;
  /** Of its records and of the blobs that no session needs which was counted before it. Where `maxBytes` was given. */
  readonly bytes?: number;
}

export interface SparedSession {
  readonly session: SessionId;
  /**
   * `open`: a run of it is at work or waits. `forked`: others share its history. `in-use`: somebody works on it, or has since. `remembered`: it wrote to
   * a memory, and there is no `state` to remove that from.
   */
  readonly because: "open" | "forked" | "damaged" | "remembered" | "in-use" | "not-archived";
  readonly message: string;
}

export interface Retention {
  /** What went, or with `dryRun` would go, the oldest first. */
  readonly deleted: readonly RetiredSession[];
  /** What the policy lets go, and stayed all the same. */
  readonly spared: readonly SparedSession[];
  /** Of all that stays. Where `maxBytes` was given. */
  readonly bytes?: number;
  readonly blobs: RemovedBlobs;
  /** Where `sealAfterMs` was given. What would be sealed is only known once it is: with `dryRun` it is nothing. */
  readonly sealed?: SealedSessions;
}

/** So many are deleted together: the logs of all sessions are read once for them, and their leases are held meanwhile. */
const DELETED_AT_ONCE = 50;

export async function retainSessions(services: SessionsOptions, policy: RetentionPolicy): Promise<Retention> {
  checkPolicy(policy);
  const { sealAfterMs } = policy;
  if (sealAfterMs !== undefined) checkSealing(services);
  return atAgentBoundary("*", async () => {
    const { sessions, retired, spared, bytes } = await choose(services, policy);
    const found = { spared, ...(bytes !== undefined && { bytes }) };
    if (policy.dryRun === true) {
      const sealed = sealAfterMs !== undefined && { sealed: NOTHING_SEALED };
      return { deleted: retired.map(({ told }) => told), ...found, blobs: { removed: 0 }, ...sealed };
    }
    const deleted: RetiredSession[] = [];
    const left = new Set<string>();
    let removed = 0;
    let stays = bytes;
    for (let from = 0; from < retired.length; from += DELETED_AT_ONCE) {
      const batch = retired.slice(from, from + DELETED_AT_ONCE);
      const gone = await deleteBatch(services, batch, policy.archive, spared);
      deleted.push(...gone.deleted);
      removed += gone.blobs.removed;
      if (gone.blobs.left !== undefined) left.add(gone.blobs.left);
      const goneIds = new Set(gone.deleted.map(({ session }) => session));
      for (const { told } of batch) if (stays !== undefined && !goneIds.has(told.session)) stays += told.bytes ?? 0;
    }
    const blobs: RemovedBlobs = { removed, ...(left.size > 0 && { left: [...left].join(" ") }) };
    const retention = { deleted, ...found, ...(stays !== undefined && { bytes: stays }), blobs };
    if (sealAfterMs === undefined) return retention;
    const gone = new Set(deleted.map(({ session }) => session));
    const now = services.clock.now();
    const idle = sessions.filter(({ session, idleSince }) => !gone.has(session) && now - idleSince > sealAfterMs);
    return { ...retention, sealed: await sealSessions(services, idle) };
  });
}

interface Candidate {
  readonly surveyed: SurveyedSession;
  readonly told: RetiredSession;
}

async function choose(
  services: SessionsOptions,
  { maxAgeMs = Number.POSITIVE_INFINITY, maxBytes }: RetentionPolicy,
): Promise<{
  readonly sessions: readonly SurveyedSession[];
  readonly retired: readonly Candidate[];
  readonly spared: SparedSession[];
  readonly bytes: number | undefined;
}> {
  const now = services.clock.now();
  const sessions = [...(await surveySessions(services)).values()].toSorted((a, b) => b.idleSince - a.idleSince);
  const [retired, spared]: [Candidate[], SparedSession[]] = [[], []];
  for (const surveyed of sessions) {
    if (surveyed.spare !== undefined || (maxBytes === undefined && now - surveyed.idleSince <= maxAgeMs)) continue;
    const message = await problemWithRemembered(services, surveyed.all);
    if (message !== undefined) surveyed.spare = { because: "remembered", message };
  }
  const counted = new Set<string>();
  let bytes = 0;
  const measured = new Map<SessionId, number>();
  const measure = async (surveyed: SurveyedSession): Promise<number> => {
    const own = await bytesOfSession(services, surveyed.all, counted);
    measured.set(surveyed.session, own.bytes);
    if (own.damage !== undefined) surveyed.spare ??= { because: "damaged", message: own.damage };
    return own.bytes;
  };
  if (maxBytes !== undefined) for (const surveyed of sessions) if (surveyed.spare !== undefined) bytes += await measure(surveyed);
  let isFull = false;
  for (const surveyed of sessions) {
    const { session, idleSince } = surveyed;
    const isOld = now - idleSince > maxAgeMs;
    const own = maxBytes === undefined ? 0 : (measured.get(session) ?? (await measure(surveyed)));
    if (surveyed.spare !== undefined) {
      isFull ||= maxBytes !== undefined && bytes > maxBytes;
      if (isOld || isFull) spared.push({ session, ...surveyed.spare });
      continue;
    }
    isFull ||= maxBytes !== undefined && !isOld && bytes + own > maxBytes;
    if (isOld || isFull) {
      const size = maxBytes === undefined ? {} : { bytes: own };
      retired.push({ surveyed, told: { session, reason: isOld ? "age" : "size", idleSince, ...size } });
    } else bytes += own;
  }
  return { sessions, retired: retired.toReversed(), spared, bytes: maxBytes === undefined ? undefined : bytes };
}

/** @param spared gets those that stay after all */
async function deleteBatch(
  services: SessionsOptions,
  batch: readonly Candidate[],
  archive: RetentionPolicy["archive"],
  spared: SparedSession[],
): Promise<{ readonly deleted: readonly RetiredSession[]; readonly blobs: RemovedBlobs }> {
  const { log, clock, owner, newId, leaseTtlMs } = services;
  const held = new Map<SessionId, { readonly lease: Lease; stop(): void }>();
  const lost = new Set<SessionId>();
  const inUse = (session: SessionId, message: string): void => void spared.push({ session, because: "in-use", message });
  try {
    for (const { told } of batch) {
      const { session } = told;
      try {
        const lease = await log.acquire(sessionLog(session), { owner: `${owner}:${newId()}`, ttlMs: leaseTtlMs });
        held.set(session, { lease, stop: keepLease(lease, leaseTtlMs, clock, () => lost.add(session)) });
      } catch (error) {
        if (!LogError.is(error, "lease-held")) throw error;
        inUse(session, error.message);
      }
    }
    // Nobody changes them from here on; whoever did before is seen now.
    const now = await surveySessions(services);
    const deleted: Candidate[] = [];
    for (const one of batch) {
      const { session } = one.told;
      if (!held.has(session)) continue;
      const again = now.get(session);
      if (again === undefined || again.spare !== undefined || again.heads !== one.surveyed.heads) {
        if (again !== undefined)
          spared.push({ session, ...(again.spare ?? { because: "in-use", message: `Session "${session}" has gone on.` }) });
        continue;
      }
      try {
        await archive?.(session);
        deleted.push({ ...one, surveyed: again });
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        spared.push({ session, because: "not-archived", message: `Session "${session}" was not archived: ${reason}` });
      }
    }
    const sure = deleted.filter(({ told }) => !lost.has(told.session));
    for (const session of lost) inUse(session, `Session "${session}" was taken over meanwhile.`);
    if (sure.length === 0) return { deleted: [], blobs: { removed: 0 } };
    const blobs = await removeSessions(
      services,
      sure.flatMap(({ surveyed }) => surveyed.all),
    );
    return { deleted: sure.map(({ told }) => told), blobs };
  } finally {
    for (const { lease, stop } of held.values()) {
      stop();
      await lease.release();
    }
  }
}

function checkPolicy(policy: RetentionPolicy): void {
  const refuse = (option: string, message: string): AgentError => new AgentError({ kind: "invalid-option", option, message });
  const { maxAgeMs, maxBytes, sealAfterMs } = policy;
  if (maxAgeMs === undefined && maxBytes === undefined && sealAfterMs === undefined)
    throw refuse(
      "maxAgeMs",
      "sessions.retain needs maxAgeMs, maxBytes or sealAfterMs, or several of them: without any nothing would ever change.",
    );
  for (const [option, value] of Object.entries({ maxAgeMs, maxBytes, sealAfterMs }))
    if (value !== undefined && !(Number.isFinite(value) && value >= 0))
      throw refuse(option, `${option} of sessions.retain must be a number from 0, not ${String(value)}.`);
}
