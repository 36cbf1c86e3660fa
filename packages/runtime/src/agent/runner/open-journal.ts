import type { SessionId } from "@keelson/protocol";
import { Journal, type JournalWatcher } from "../../session/journal.ts";
import type { RunnerServices } from "../turn/runner-services.ts";

export const DEFAULT_LEASE_TTL_MS = 30_000;

/** Takes the lease of a session and folds its log. Each stretch of work is an owner of its own: two runs of one process exclude each other too. */
export function openJournal(services: RunnerServices, session: SessionId, watcher: JournalWatcher): Promise<Journal> {
  const { log, blobs, clock, owner, leaseTtlMs = DEFAULT_LEASE_TTL_MS, durability = "power", recordsPerSnapshot } = services;
  return Journal.open({
    log,
    blobs,
    clock,
    session,
    owner: `${owner}:${services.newId()}`,
    leaseTtlMs,
    durability,
    recordsPerSnapshot,
    watcher,
  });
}
