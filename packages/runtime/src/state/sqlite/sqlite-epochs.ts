import type { StatementSync } from "node:sqlite";

/** So many are taken at once, so that most leases need no look at the counter. What is left when the process ends is never used. */
const AHEAD = 64;
const TAKE = `UPDATE counters SET last_epoch = last_epoch + ${AHEAD} RETURNING last_epoch`;

/** The epochs that this process has taken ahead. They are given away only while nobody else has taken any: each is higher than all before it. */
export class Epochs {
  readonly #prepare: (sql: string) => StatementSync;
  /** The one to be given away next. */
  next = 1;
  /** What stood in the database when these were taken; 0 while there are none. */
  last = 0;

  constructor(prepare: (sql: string) => StatementSync) {
    this.#prepare = prepare;
  }

  /** Within a transaction. */
  take(): number {
    if (this.next > this.last) {
      this.last = this.#prepare(TAKE).get()?.["last_epoch"] as number;
      this.next = this.last - AHEAD + 1;
    }
    return this.next++;
  }

  /** Others have committed, and may have taken later ones; or the transaction that took these failed. */
  drop(): void {
    this.next = 1;
    this.last = 0;
  }
}
