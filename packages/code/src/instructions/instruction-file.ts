import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { relative, sep } from "node:path";

export interface InstructionFile {
  readonly path: string;
  /** What it says, without white space around it; empty when it could not be read. */
  readonly text: string;
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
    const buffer = Buffer.allocUnsafe(Math.min(stats.size, maxBytes));
    const { bytesRead } = await file.read(buffer, 0, buffer.byteLength, 0);
    const whole = buffer.subarray(0, bytesRead);
    if (stats.size <= maxBytes) return whole.toString("utf8").trim() === "" ? undefined : { path, text: clean(whole) };
    const kept = whole.subarray(0, whole.lastIndexOf(0x0a) + 1);
    return {
      path,
      text: clean(kept),
      note: `Only the first ${kept.byteLength} of ${stats.size} bytes are shown. Read the file for the rest.`,
    };
  } catch (error) {
    return unreadable(path, error);
  }
}

function clean(bytes: Buffer): string {
  return bytes
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .trim();
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
