import { type Poll, pollByTimer } from "../kit/poll.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";

/** Wakes readers when another process has changed the database. It polls while somebody waits, and only then. */
export interface ForeignWatch {
  watch(wake: () => void): () => void;
  /** Wakes all, so that they see that the log is closed. */
  close(): void;
}

const POLL_MS = 50;

export function createForeignWatch(
  database: SqliteDatabase,
  options: { readonly pollMs?: number | undefined; readonly poll?: Poll | undefined },
): ForeignWatch {
  const { pollMs = POLL_MS, poll = pollByTimer } = options;
  const waiting = new Set<() => void>();
  let seenVersion = 0;
  let stopPolling: (() => void) | undefined;

  const wakeAll = (): void => {
    for (const wake of [...waiting]) wake();
  };
  const tick = (): void => {
    let version: number;
    try {
      version = database.foreignVersion();
    } catch {
      // Readers meet the same failure when they look, and report it.
      wakeAll();
      return;
    }
    if (version === seenVersion) return;
    seenVersion = version;
    wakeAll();
  };

  return {
    watch(wake) {
      waiting.add(wake);
      if (stopPolling === undefined) {
        seenVersion = database.foreignVersion();
        stopPolling = poll(tick, pollMs);
      }
      return () => {
        waiting.delete(wake);
        if (waiting.size > 0) return;
        stopPolling?.();
        stopPolling = undefined;
      };
    },
    close() {
      stopPolling?.();
      stopPolling = undefined;
      wakeAll();
    },
  };
}
