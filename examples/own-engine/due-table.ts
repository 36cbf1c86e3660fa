// An engine: a table in SQLite of the sessions that are due. Any number of workers, in any processes, take what is due and advance it.
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import type { NextAdvance } from "keelson/agent";
import type { DurableOrchestrator } from "keelson/orchestration";

type SessionId = Parameters<DurableOrchestrator["wake"]>[0];

interface Claim {
  readonly session: SessionId;
  /** How often it was woken by then. */
  readonly wakes: number;
}

/** A worker that is silent for so long has died: others take what it had. */
const CLAIM_MS = 3000;

export class DueTable {
  readonly #database: DatabaseSync;

  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    this.#database.exec(`
      PRAGMA busy_timeout = 10000;
      PRAGMA journal_mode = WAL;
      CREATE TABLE IF NOT EXISTS due (
        session TEXT PRIMARY KEY, at INTEGER, wakes INTEGER NOT NULL DEFAULT 1, worker TEXT, until INTEGER
      ) STRICT;
    `);
  }

  /** The session is due now, and once more where somebody works it at this moment. */
  wake(session: SessionId): void {
    this.#database
      .prepare("INSERT INTO due (session, at) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET at = min(coalesce(at, ?2), ?2), wakes = wakes + 1")
      .run(session, Date.now());
  }

  /** What has been due for longest. */
  claim(worker: string): Claim | undefined {
    const now = Date.now();
    return this.#database
      .prepare(
        `UPDATE due SET worker = ?1, until = ?2 WHERE session =
           (SELECT session FROM due WHERE at <= ?3 AND (worker IS NULL OR until < ?3) ORDER BY at LIMIT 1)
         RETURNING session, wakes`,
      )
      .get(worker, now + CLAIM_MS, now) as Claim | undefined;
  }

  keep({ session }: Claim, worker: string): void {
    this.#database.prepare("UPDATE due SET until = ? WHERE session = ? AND worker = ?").run(Date.now() + CLAIM_MS, session, worker);
  }

  /** Gives a session back: due at `at`, or when it is woken. One that was woken meanwhile stays due. */
  settle({ session, wakes }: Claim, worker: string, at: number | null): void {
    this.#database
      .prepare("UPDATE due SET worker = NULL, at = CASE WHEN wakes = ?1 THEN ?2 ELSE at END WHERE session = ?3 AND worker = ?4")
      .run(wakes, at, session, worker);
  }

  close(): void {
    this.#database.close();
  }
}

interface Advancing {
  advance(session: string, options: { readonly signal?: AbortSignal }): Promise<{ readonly next: NextAdvance }>;
}

// #region work
/** Advances what is due, one session after the other, until `signal` fires. */
export async function workDueSessions(table: DueTable, runner: Advancing, worker: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const claim = table.claim(worker);
    if (claim === undefined) {
      await sleep(20, undefined, { signal }).catch(() => {});
      continue;
    }
    const keeping = setInterval(() => table.keep(claim, worker), CLAIM_MS / 3);
    try {
      const { next } = await runner.advance(claim.session, { signal });
      table.settle(claim, worker, next.type === "now" ? Date.now() : next.type === "at" ? next.at : null);
    } catch (error) {
      // The log, the lease or the table failed, not the agent: later, here or elsewhere.
      console.error(`${worker}: ${claim.session} is tried again in a second: ${String(error)}`);
      table.settle(claim, worker, Date.now() + 1000);
    } finally {
      clearInterval(keeping);
    }
  }
}
// #endregion
