import type { LogRecord, NewRecord } from "@keelson/protocol";
import type { LogContent } from "../kit/plan-append.ts";

/** The records of one append: their data as one text, since a few long strings cost the garbage collector much less than many objects. */
interface Appended {
  /** The seq before its first record. */
  readonly after: number;
  readonly at: number;
  /** Of each record its key, then its type. */
  readonly names: readonly string[];
  /** A JSON list, with one object for each record. */
  readonly text: string;
}

/** The records of one log in memory. No later change of the caller's objects reaches them, and every reading gives new ones. */
export class MemoryLogContent {
  readonly #appended: Appended[] = [];
  /** Of all records. Where one stands is looked for in the few cases that it is taken: a map would take half as much again. */
  readonly #keys = new Set<string>();
  head = 0;
  /** Unix ms of the last record. */
  lastAt = 0;
  /** What the last append said of the log, as JSON text. */
  summary: string | undefined;

  /** What has to be known before these are appended. */
  about(records: readonly NewRecord[]): LogContent {
    const standing = new Map<string, LogRecord>();
    for (const { key } of records) if (this.#keys.has(key)) standing.set(key, this.#recordOf(key));
    return { head: this.head, standing };
  }

  /** @param text the data of the records as a JSON list */
  append(at: number, records: readonly NewRecord[], text: string): void {
    const names = new Array<string>(records.length * 2);
    let place = 0;
    for (const { key, type } of records) {
      names[place++] = key;
      names[place++] = type;
      this.#keys.add(key);
    }
    this.#appended.push({ after: this.head, at, names, text });
    this.head += records.length;
    this.lastAt = at;
  }

  /** At least one record after `after` if there is one, at least `enough` if there are so many. */
  read(after: number, enough: number): readonly LogRecord[] {
    const found: LogRecord[] = [];
    for (let index = this.#indexOf(after + 1); index < this.#appended.length && found.length < enough; index++) {
      const appended = this.#appended[index] as Appended;
      const data = JSON.parse(appended.text) as LogRecord["data"][];
      for (let place = Math.max(0, after - appended.after); place < data.length; place++) {
        found.push({
          seq: appended.after + place + 1,
          at: appended.at,
          key: appended.names[place * 2] as string,
          type: appended.names[place * 2 + 1] as string,
          data: data[place] as LogRecord["data"],
        });
      }
    }
    return found;
  }

  #recordOf(key: string): LogRecord {
    for (const { after, names } of this.#appended)
      for (let place = 0; place < names.length; place += 2)
        if (names[place] === key) return this.read(after + place / 2, 1)[0] as LogRecord;
    throw new RangeError(`the log has no record "${key}"`);
  }

  /** Which append holds the record with this seq; one past the last when none does. */
  #indexOf(seq: number): number {
    let low = 0;
    let high = this.#appended.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { after, names } = this.#appended[middle] as Appended;
      if (after + names.length / 2 < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
