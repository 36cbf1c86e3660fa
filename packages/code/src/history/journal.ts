import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import type { JournalRecord } from "./journal-record.ts";

/** A line of a journal begins with a checksum of eight hex digits and a space. JSON follows. */
const PREFIX = 9;

/**
 * The journal of a session: a file of lines that is only added to. A line that is not whole, as a killed process leaves one, ends it, and the next
 * append cuts it off. Its user holds the lock of the project.
 */
export class Journal {
  readonly #file: string;
  #records: readonly JournalRecord[] = [];
  /** Bytes of the file that hold whole records. */
  #bytes = 0;
  #size = -1;

  readonly #isSynced: boolean;

  constructor(file: string, { isSynced = true }: { readonly isSynced?: boolean } = {}) {
    this.#file = file;
    this.#isSynced = isSynced;
  }

  /** Returns the records. */
  read(): readonly JournalRecord[] {
    const size = statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
    if (size === this.#size) return this.#records;
    ({ records: this.#records, bytes: this.#bytes } = parseJournal(size === 0 ? Buffer.alloc(0) : readFileSync(this.#file)));
    this.#size = size;
    return this.#records;
  }

  /** Adds records. They are on the disk when it returns. */
  append(records: readonly JournalRecord[]): void {
    const known = this.read();
    const file = openSync(this.#file, "a", 0o600);
    try {
      if (fstatSync(file).size > this.#bytes) ftruncateSync(file, this.#bytes);
      const lines = Buffer.from(records.map(lineOf).join(""), "utf8");
      for (let written = 0; written < lines.length;) written += writeSync(file, lines, written);
      if (this.#isSynced) fsyncSync(file);
      this.#bytes += lines.length;
      this.#size = this.#bytes;
      this.#records = [...known, ...records];
    } catch (error) {
      this.#size = -1;
      throw error;
    } finally {
      closeSync(file);
    }
  }
}

/** Reads the records of a journal up to the first line that is not whole. @returns the records, and the bytes that they take */
export function parseJournal(content: Buffer): { readonly records: readonly JournalRecord[]; readonly bytes: number } {
  const records: JournalRecord[] = [];
  let at = 0;
  for (;;) {
    const end = content.indexOf(10, at);
    const record = end < 0 ? undefined : parseLine(content.subarray(at, end));
    if (record === undefined) return { records, bytes: at };
    records.push(record);
    at = end + 1;
  }
}

/** Returns a record as a line. */
export function lineOf(record: JournalRecord): string {
  const text = JSON.stringify(record);
  return `${crc32(text).toString(16).padStart(8, "0")} ${text}\n`;
}

function parseLine(line: Buffer): JournalRecord | undefined {
  if (line.length <= PREFIX) return undefined;
  const sum = Number.parseInt(line.toString("latin1", 0, PREFIX - 1), 16);
  const text = line.subarray(PREFIX);
  return crc32(text) === sum ? (JSON.parse(text.toString("utf8")) as JournalRecord) : undefined;
}
