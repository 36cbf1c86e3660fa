import { LogError, type Durability, type EventLog, type LogId, type NewRecord } from "@keelson/protocol";
import { applyScheduleRecord, closingRecord, emptyTable, summaryOf, type ScheduleTable } from "./schedule-state.ts";

const PREFIX = "schedules/";
/** Its lease says who fires; it holds no records. */
export const SCHEDULES_LEASE: LogId = "schedules" as LogId;

export interface ScheduleBookOptions {
  readonly log: EventLog;
  readonly durability: Durability;
  /** Records after which what they add up to goes into a new log. */
  readonly maxRecords: number;
}

/**
 * The schedules of an event log, folded, and the one way to write about them, for any number of processes at once: each append says
 * what it has seen, and is made again from the new state when others were faster.
 *
 * They stand in `schedules/<number>`. One that has grown long is closed, which ends all writing to it; whoever finds it so begins the
 * next with what it adds up to. Since that follows from the closed log alone, any number may do it, and a crash between leaves
 * nothing to repair.
 */
export class ScheduleBook {
  table: ScheduleTable = emptyTable();
  readonly #options: ScheduleBookOptions;
  #number = 0;
  #seq = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ScheduleBookOptions) {
    this.#options = options;
  }

  /** Where it stands: what is appended after this is news. */
  get place(): { readonly log: LogId; readonly seq: number } {
    return { log: logOf(this.#number), seq: this.#seq };
  }

  /** Folds what others wrote. */
  refresh(): Promise<void> {
    return this.#inTurn(() => this.#refresh());
  }

  /**
   * Appends what `make` wants in view of all that is there; it is asked again when others wrote meanwhile. Resolves when the
   * table shows it.
   */
  append(make: (table: ScheduleTable) => readonly NewRecord[]): Promise<void> {
    return this.#inTurn(async () => {
      for (;;) {
        await this.#refresh();
        const records = make(this.table);
        if (records.length === 0) return;
        const isFirst = this.#seq === 0;
        if (!(await this.#write(logOf(this.#number), this.#seq, records))) continue;
        // A log that began anew while its successors were there already is the past: nobody reads it any more.
        if (isFirst && (await this.#newest()) > this.#number) {
          this.#forget();
          continue;
        }
        await this.#refresh();
        // What is alive goes into every log: it does not make one long.
        const isLong = this.#seq > this.#options.maxRecords + this.table.live.size;
        if (isLong && (await this.#write(logOf(this.#number), this.#seq, [closingRecord()]))) await this.#refresh();
        return;
      }
    });
  }

  async #refresh(): Promise<void> {
    // As long as it knows of no record, others may have begun and closed any number of logs.
    if (this.#seq === 0) this.#number = (await this.#newest()) || 1;
    for (;;) {
      const before = this.#seq;
      for await (const record of this.#options.log.read(logOf(this.#number), { after: this.#seq })) {
        applyScheduleRecord(this.table, record);
        this.#seq = record.seq;
      }
      if (this.table.closedAt !== undefined) {
        await this.#turnOver();
        continue;
      }
      if (this.#seq > before || before === 0 || (await this.#options.log.head(logOf(this.#number))) >= before) return;
      // Deleted, since it was closed and has a successor.
      this.#forget();
      this.#number = (await this.#newest()) || 1;
    }
  }

  /** Goes on in the next log, and begins it if nobody did. */
  async #turnOver(): Promise<void> {
    const { log } = this.#options;
    const closed = this.#number;
    if ((await log.head(logOf(closed + 1))) === 0) await this.#write(logOf(closed + 1), 0, summaryOf(this.table));
    for (const { log: id } of await log.list({ prefix: PREFIX })) if (numberOf(id) <= closed) await log.delete(id);
    this.#forget();
    this.#number = closed + 1;
  }

  /** @returns whether it was this append; else others wrote since */
  async #write(log: LogId, expectedSeq: number, records: readonly NewRecord[]): Promise<boolean> {
    try {
      await this.#options.log.append(log, expectedSeq, records, { durability: this.#options.durability });
      return true;
    } catch (error) {
      if (LogError.is(error, "conflict")) return false;
      throw error;
    }
  }

  async #newest(): Promise<number> {
    let newest = 0;
    for (const { log } of await this.#options.log.list({ prefix: PREFIX })) newest = Math.max(newest, numberOf(log));
    return newest;
  }

  #forget(): void {
    this.table = emptyTable();
    this.#number = 0;
    this.#seq = 0;
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(act, act);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

function logOf(number: number): LogId {
  return `${PREFIX}${String(number).padStart(8, "0")}` as LogId;
}

function numberOf(log: LogId): number {
  return Number(log.slice(PREFIX.length));
}
