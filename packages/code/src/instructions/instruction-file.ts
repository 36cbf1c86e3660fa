import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { relative, sep } from "node:path";

// Nobody wrote more than this for a model to read.
const MAX_FILE_BYTES = 16 * 1024 * 1024;

export interface InstructionFile {
  readonly path: string;
  /** What it says, without white space around it; empty when it could not be read. */
  readonly text: string;
  /** SHA-256 of the whole file in hex, also where only its beginning is kept; absent when it could not be read. */
  readonly digest?: string;
  /** The text without that of imports. Absent: nothing is imported. */
  readonly own?: string;
  /** The files that it imports, as they are written, without the `@`. */
  readonly imports?: readonly string[];
  /** Why this is not the whole file. */
  readonly note?: string;
}

/**
 * Reads at most `maxBytes` of a file, up to the end of a line; `undefined` when there is none, or nothing in it. With
 * `within`, a link that leads out of that folder is not followed: a project must not make the agent recite other files.
 */
export async function readInstructionFile(path: string, maxBytes: number, within?: string): Promise<InstructionFile | undefined> {
  let real: string;
  try {
    real = await realpath(path);
  } catch (error) {
    return codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR" ? undefined : unreadable(path, error);
  }
  if (within !== undefined && isOutside(within, real))
    return { path, text: "", note: "This file is a link that leads out of the project; it was not read." };
  try {
    // Not to wait for somebody to write into a pipe of this name.
    await using file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) return undefined;
    if (stats.size > MAX_FILE_BYTES) return { path, text: "", note: `This file has ${stats.size} bytes; it was not read.` };
    const { head, digest, size } = await readHead(file, maxBytes);
    if (size <= maxBytes) return head.toString("utf8").trim() === "" ? undefined : { path, text: clean(head), digest };
    const kept = head.subarray(0, head.lastIndexOf(0x0a) + 1);
    return {
      path,
      text: clean(kept),
      digest,
      note: `Only the first ${kept.byteLength} of ${size} bytes are shown. Read the file for the rest.`,
    };
  } catch (error) {
    return unreadable(path, error);
  }
}

/** Of one reading, so that what is kept is what the digest is of. */
async function readHead(
  file: FileHandle,
  maxBytes: number,
): Promise<{ readonly head: Buffer; readonly digest: string; readonly size: number }> {
  const hash = createHash("sha256");
  const head: Buffer[] = [];
  let size = 0;
  for await (const chunk of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    if (size < maxBytes) head.push(chunk.subarray(0, maxBytes - size));
    size += chunk.byteLength;
  }
  return { head: Buffer.concat(head), digest: hash.digest("hex"), size };
}

function clean(bytes: Buffer): string {
  return bytes
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .trim();
}

/** Returns the file with at most so many bytes of its text, up to the end of a line. */
export function cutInstructions(file: InstructionFile, maxBytes: number): InstructionFile {
  const bytes = Buffer.from(file.text);
  if (bytes.byteLength <= maxBytes) return file;
  const kept = bytes.subarray(0, bytes.lastIndexOf(0x0a, Math.max(0, maxBytes - 1)) + 1);
  const note = `Only the first ${kept.byteLength} of ${bytes.byteLength} bytes are shown. Read the files for the rest.`;
  return { ...file, text: clean(kept), note: file.note === undefined ? note : `${file.note} ${note}` };
}

function isOutside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === ".." || way.startsWith(`..${sep}`);
}

function unreadable(path: string, error: unknown): InstructionFile {
  return { path, text: "", note: `This file could not be read (${codeOf(error) ?? String(error)}).` };
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
