import { resolve } from "node:path/posix";
import type { FileInfo, Vfs } from "@keelson/protocol";
import { detectEncoding } from "../reading/detect-encoding.ts";
import { fileKindOf, SIGNATURE_BYTES } from "../reading/file-kinds.ts";
import { createLargeText, type LargeText } from "../reading/large-text.ts";
import { type DocumentForm, openDocument } from "../reading/open-document.ts";
import { digestOf } from "./seen-files.ts";
import { NO_TELEMETRY, type Telemetry } from "./telemetry.ts";
import type { FileReadOptions, FileText, FileTexts, OpenedFile } from "./file-texts.ts";

export interface FileTextsOptions {
  readonly files: Vfs;
  /** Memory that the texts may take. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Larger files are read in parts. Default 16 MiB. */
  readonly maxFileBytes?: number;
  /** Unix ms by the clock of the file system. */
  readonly now?: () => number;
  /** Records each read of a text, and if the store had it. Default: off. */
  readonly telemetry?: Telemetry;
}

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
const DEFAULT_MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Enough to recognise an encoding. */
const PROBE_BYTES = 64 * 1024;
/** The coarsest clock of a file system: a file that changed less than this before it was read may change again without a sign. */
const CLOCK_STEP_MS = 2_000;
const MAX_ATTEMPTS = 3;
/** A string takes two bytes a character, and a line some more. */
const BYTES_A_CHARACTER = 2;
const BYTES_A_LINE = 40;

interface Entry {
  readonly info: FileInfo;
  readonly value: FileText | LargeText;
  readonly bytes: number;
  /** Unix ms before the file was read. */
  readonly readAt: number;
  /** The paths that it was asked for by, absolute. */
  readonly paths: Set<string>;
}

/** Makes a store of decoded texts. The texts that were not used for the longest time leave first. */
export function createFileTexts(options: FileTextsOptions): FileTexts {
  const {
    files: own,
    maxBytes = DEFAULT_MAX_BYTES,
    maxFileBytes = DEFAULT_MAX_FILE_BYTES,
    now = Date.now,
    telemetry = NO_TELEMETRY,
  } = options;
  const entries = new Map<string, Entry>();
  const owners = new WeakMap<Vfs, number>();
  let lastOwner = 0;
  let bytes = 0;

  const ownerOf = (files: Vfs): number => {
    let owner = owners.get(files);
    if (owner === undefined) owners.set(files, (owner = ++lastOwner));
    return owner;
  };
  const forget = (key: string): void => {
    bytes -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  };
  const keep = (key: string, entry: Entry): void => {
    forget(key);
    if (entry.bytes > maxBytes) return;
    entries.set(key, entry);
    bytes += entry.bytes;
    for (const oldest of entries.keys()) {
      if (bytes <= maxBytes) break;
      forget(oldest);
    }
  };

  async function open(path: string, { files = own, signal, ...form }: FileReadOptions & DocumentForm): Promise<OpenedFile> {
    for (let attempt = 1; ; attempt++) {
      const readAt = now();
      const info = await files.stat(path, { signal });
      if (info.isDir) return { kind: "folder" };
      const key = JSON.stringify([ownerOf(files), info.path, form.encoding, form.raw, form.pages]);
      const asked = resolve(files.root ?? "/", path);
      const held = entries.get(key);
      const stored = held !== undefined && isSameFile(held.info, info) ? held : undefined;
      if (stored !== undefined && isSettled(stored)) return hit(key, stored, asked);
      if (info.size > maxFileBytes) {
        const large = await openLarge(files, info, form, signal);
        if (large !== undefined) {
          if (large.kind === "large") keep(key, { info, value: large.text, bytes: PROBE_BYTES, readAt, paths: new Set([asked]) });
          return large;
        }
      }
      const { content } = await files.read(path, { signal });
      const digest = digestOf(content);
      const after = await files.stat(path, { signal });
      const isStable = isSameFile(info, after) && content.byteLength === info.size;
      if (!isStable && attempt < MAX_ATTEMPTS && info.size > 0) continue;
      // The same bytes as before: the decoded text is still theirs.
      if (stored !== undefined && isStable && "digest" in stored.value && stored.value.digest === digest) {
        keep(key, { ...stored, info, readAt });
        return hit(key, entries.get(key) ?? stored, asked);
      }
      const document = await openDocument(info.path, content, { ...form, signal });
      if (document.kind !== "text") return { kind: "other", document, size: content.byteLength, content };
      const text: FileText = { ...document, size: content.byteLength, digest };
      if (isStable) keep(key, { info, value: text, bytes: memoryOf(text), readAt, paths: new Set([asked]) });
      else forget(key);
      telemetry.record("file-read", { path: info.path, bytes: text.size, cached: false });
      return { kind: "text", text, changedWhileRead: !isStable && info.size > 0 };
    }
  }

  /** Moves an entry to the end, because the order is that of use. */
  function hit(key: string, entry: Entry, asked: string): OpenedFile {
    entry.paths.add(asked);
    entries.delete(key);
    entries.set(key, entry);
    const { value, info } = entry;
    telemetry.record("file-read", { path: info.path, bytes: info.size, cached: true });
    return "digest" in value ? { kind: "text", text: value, changedWhileRead: false } : { kind: "large", text: value };
  }

  return {
    open,
    async read(path, readOptions) {
      const opened = await open(path, readOptions);
      return opened.kind === "text" ? opened.text : undefined;
    },
    drop(path) {
      const absolute = resolve(own.root ?? "/", path);
      for (const [key, { info, paths }] of entries) if (info.path === absolute || paths.has(absolute)) forget(key);
    },
  };
}

/** Opens a file that is too large to be read whole. `undefined` if it is of a kind that has to be read whole. */
async function openLarge(
  files: Vfs,
  { path, size }: FileInfo,
  { encoding, raw }: DocumentForm,
  signal: AbortSignal,
): Promise<OpenedFile | undefined> {
  const { readPart } = files;
  if (readPart === undefined) return undefined;
  const part = async (start: number, end: number, partSignal: AbortSignal): Promise<Uint8Array> =>
    (await readPart.call(files, path, { start, end, signal: partSignal })).content;
  const probe = await part(0, PROBE_BYTES, signal);
  const kind = encoding === undefined && raw !== true ? fileKindOf(probe.subarray(0, SIGNATURE_BYTES)) : undefined;
  if (kind?.kind === "pdf") return undefined;
  if (kind !== undefined) return { kind: "other", document: kind, size, content: probe };
  const detected = encoding === undefined ? detectEncoding(probe) : { encoding: new TextDecoder(encoding).encoding, markBytes: 0 };
  if (detected === undefined) return { kind: "other", document: { kind: "binary", name: "binary" }, size, content: probe };
  return { kind: "large", text: createLargeText({ size, encoding: detected.encoding, markBytes: detected.markBytes, readPart: part }) };
}

function isSameFile(a: FileInfo, b: FileInfo): boolean {
  return a.size === b.size && a.modified === b.modified && a.changed === b.changed && a.inode === b.inode;
}

/** True if a later change of the file shows in its times. Only the time of change cannot be set by a program. */
function isSettled({ info: { modified = 0, changed }, readAt }: Entry): boolean {
  return changed !== undefined && readAt - Math.max(modified, changed) > CLOCK_STEP_MS;
}

function memoryOf({ lines, images }: FileText): number {
  const text = lines.reduce((sum, line) => sum + line.length * BYTES_A_CHARACTER + BYTES_A_LINE, 0);
  return images.reduce((sum, { data }) => sum + data.length, text);
}
