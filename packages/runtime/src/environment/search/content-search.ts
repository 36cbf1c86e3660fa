import { isUtf8 } from "node:buffer";
import type { GrepMatch, GrepOptions, SearchOmission } from "@keelson/protocol";
import type { LineFilter } from "./line-filter.ts";
import type { Pauses } from "./pauses.ts";
import { detectEncoding, toUtf8 } from "./text-encoding.ts";
import { countOf, type TextSearch } from "./text-search.ts";
import type { TextWindow } from "./text-windows.ts";

/** Collects the matches of one search. Files are added in the order of their paths. */
export interface ContentSearch {
  readonly matches: readonly GrepMatch[];
  /** True if the search needs no more matches. */
  isFull(): boolean;
  /** True if the search needs no more of this file. */
  isDone(file: string): boolean;
  /** Adds a file as it is on the disk. Its bytes are not used once this resolves. */
  addFile(file: string, bytes: Buffer): Promise<void>;
  /** Adds a part of a large file. */
  addWindow(file: string, window: TextWindow): Promise<void>;
  /** Searches the rest of what was added. */
  finish(): Promise<void>;
}

export interface ContentSearchOptions extends GrepOptions {
  readonly pattern: string;
  readonly signal?: AbortSignal | undefined;
  readonly lineFilter: LineFilter | undefined;
  readonly pauses: Pauses;
  omit(omission: SearchOmission): void;
}

interface AddedText {
  readonly file: string;
  readonly window: TextWindow;
}

// A shorter text is found in nearly every file.
const TELLING_CHARACTERS = 3;
const FIRST_BATCH_BYTES = 512 * 1024;
const MAX_BATCH_BYTES = 16 * 1024 * 1024;
/** A filter that passes more than this share costs more than it saves. */
const USELESS_SHARE = 0.5;
const MIN_JUDGED_TEXTS = 16;
const FEW_BYTES = 128 * 1024;
const NUL_PROBE_BYTES = 8192;

/** True if a filter of lines saves time. */
export function wantsLineFilter({ filter }: TextSearch, { invert, multiline }: GrepOptions): boolean {
  return !invert && !multiline && (filter?.shortest ?? 0) < TELLING_CHARACTERS;
}

export function createContentSearch({ filter: texts, ripgrep, search }: TextSearch, options: ContentSearchOptions): ContentSearch {
  const { pattern, maxMatches = Number.POSITIVE_INFINITY, outputMode = "content", invert, omit, signal, pauses } = options;
  const beyondAscii = Buffer.byteLength(pattern) !== pattern.length;
  const matches: GrepMatch[] = [];
  const done = new Set<string>();
  let lineFilter = options.lineFilter;
  let batch: AddedText[] = [];
  let batchBytes = 0;
  let batchLimit = FIRST_BATCH_BYTES;

  const mayHold = (bytes: Buffer): boolean => texts?.isIn(bytes) !== false;

  function searchText({ file, window }: AddedText): void {
    if (done.has(file)) return;
    if (window.encoding === "binary") {
      done.add(file);
      omit({ path: file, isDir: false, reason: "binary" });
      return;
    }
    for (const match of search(file, window)) {
      if (matches.length >= maxMatches) return;
      const last = matches.at(-1);
      if (outputMode === "count" && last?.file === file) matches[matches.length - 1] = countOf(file, last.lineNumber + match.lineNumber);
      else matches.push(match);
      if (outputMode === "files-with-matches") done.add(file);
    }
  }

  async function searchBatch(): Promise<void> {
    const added = batch;
    batch = [];
    batchBytes = 0;
    batchLimit = Math.min(batchLimit * 4, MAX_BATCH_BYTES);
    const bytes = added.map(({ window }) => window.bytes);
    // Starting a program takes as long as searching so little.
    const isFew = batchBytesOf(added) < FEW_BYTES && added.every(({ window }) => window.encoding !== "binary");
    const found = isFew ? undefined : await lineFilter?.(ripgrep, bytes, signal);
    const hits = added.filter((_, index) => found?.[index] !== false);
    const isUseless = added.length >= MIN_JUDGED_TEXTS && hits.length > added.length * USELESS_SHARE;
    if (!isFew && (found === undefined || isUseless)) lineFilter = undefined;
    for (const text of hits) {
      if (matches.length >= maxMatches) return;
      if (pauses.isDue()) await pauses.pause();
      signal?.throwIfAborted();
      searchText(text);
    }
  }

  async function add(file: string, window: TextWindow): Promise<void> {
    // The lines of a binary file are never shown.
    if (window.encoding === "binary" && invert) return;
    if (lineFilter === undefined) return searchText({ file, window });
    batch.push({ file, window: { ...window, bytes: Buffer.from(window.bytes) } });
    batchBytes += window.bytes.byteLength;
    if (batchBytes >= batchLimit) await searchBatch();
  }

  return {
    matches,
    isFull: () => matches.length >= maxMatches,
    isDone: (file) => done.has(file),
    async addFile(file, bytes) {
      const isUtf16 = (bytes[0] ?? 0) >= 0xfe || bytes.subarray(0, NUL_PROBE_BYTES).includes(0);
      // Encodings other than UTF-16 agree with ASCII.
      if (!isUtf16 && !mayHold(bytes) && (texts?.isAscii || isUtf8(bytes))) return;
      const encoding = detectEncoding(bytes);
      if (encoding === "bytes" && beyondAscii && !invert) omit({ path: file, isDir: false, reason: "encoding" });
      const text = toUtf8(bytes, encoding);
      if (mayHold(text)) await add(file, { bytes: text, encoding, linesBefore: 0, from: 0, to: Number.POSITIVE_INFINITY });
    },
    async addWindow(file, window) {
      if (window.encoding === "bytes" && beyondAscii && !invert && window.linesBefore === 0)
        omit({ path: file, isDir: false, reason: "encoding" });
      if (mayHold(window.bytes)) await add(file, window);
    },
    async finish() {
      if (batch.length > 0) await searchBatch();
    },
  };
}

function batchBytesOf(texts: readonly AddedText[]): number {
  return texts.reduce((sum, { window }) => sum + window.bytes.byteLength, 0);
}
