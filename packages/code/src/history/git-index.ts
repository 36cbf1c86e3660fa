import { createHash } from "node:crypto";

const HEADER_BYTES = 12;
/** Bytes of an entry before its object id: times, device, inode, mode, owner and size. */
const BEFORE_ID = 40;
const SECONDS_AT = 8;
const MODE_AT = 24;
const SIZE_AT = 36;

/** An entry of an index of git. */
export interface GitIndexEntry {
  /** Bytes, as Latin-1. */
  readonly path: string;
  readonly mode: number;
  /** The time of the last modification. */
  readonly seconds: number;
  /** Bytes, modulo 2 ** 32. */
  readonly size: number;
  readonly id: string;
  readonly flags: number;
}

/** Reads an index of git, versions 2 to 4. @returns `undefined` if the format is not understood */
export function readGitIndex(bytes: Buffer): readonly GitIndexEntry[] | undefined {
  const idBytes = [20, 32].find((length) => isChecked(bytes, length));
  if (idBytes === undefined || bytes.toString("latin1", 0, 4) !== "DIRC") return undefined;
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  try {
    return readEntries(bytes, version, idBytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** True if git does not look at the file either: a submodule, and what is assumed unchanged or not checked out. */
export function isPassedOver({ mode, flags }: GitIndexEntry): boolean {
  return (mode & 0xf000) === 0xe000 || (flags & (0x8000 << 16)) !== 0 || (flags & 0x4000) !== 0;
}

/** True if two indexes stage the same. `git status` alone writes the index again with other times. */
export function sameGitIndex(a: Buffer, b: Buffer): boolean {
  if (a.equals(b)) return true;
  const [left, right] = [readGitIndex(a), readGitIndex(b)];
  if (left === undefined || right === undefined || left.length !== right.length) return false;
  return left.every((entry, at) => {
    const other = right[at];
    return (
      other !== undefined && entry.path === other.path && entry.id === other.id && entry.mode === other.mode && entry.flags === other.flags
    );
  });
}

function readEntries(bytes: Buffer, version: number, idBytes: number): readonly GitIndexEntry[] | undefined {
  const count = bytes.readUInt32BE(8);
  const entries: GitIndexEntry[] = [];
  let at = HEADER_BYTES;
  let before = "";
  for (let index = 0; index < count; index++) {
    const start = at;
    const id = at + BEFORE_ID;
    const flags = bytes.readUInt16BE(id + idBytes);
    const isExtended = (flags & 0x4000) !== 0;
    const extended = isExtended ? bytes.readUInt16BE(id + idBytes + 2) : 0;
    at = id + idBytes + (isExtended ? 4 : 2);
    let path: string;
    if (version === 4) {
      const { removed, next } = readOffset(bytes, at);
      const end = bytes.indexOf(0, next);
      path = before.slice(0, before.length - removed) + bytes.toString("latin1", next, end);
      before = path;
      at = end + 1;
    } else {
      const end = bytes.indexOf(0, at);
      path = bytes.toString("latin1", at, end);
      at = start + ((end - start + 8) & ~7);
    }
    if (at <= start || at > bytes.length) return undefined;
    entries.push({
      path,
      mode: bytes.readUInt32BE(start + MODE_AT),
      seconds: bytes.readUInt32BE(start + SECONDS_AT),
      size: bytes.readUInt32BE(start + SIZE_AT),
      id: bytes.toString("hex", id, id + idBytes),
      // Stage and the bits that a person sets. The length of the name says nothing.
      flags: ((flags & 0xf000) << 16) | extended,
    });
  }
  // A split index keeps entries in another file.
  for (let next = at; next + 8 <= bytes.length - idBytes; next += 8 + bytes.readUInt32BE(next + 4)) {
    if (bytes.toString("latin1", next, next + 4) === "link") return undefined;
  }
  return entries;
}

/** Reads a number of variable length. */
function readOffset(bytes: Buffer, from: number): { readonly removed: number; readonly next: number } {
  let at = from;
  let byte = bytes.readUInt8(at++);
  let removed = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = bytes.readUInt8(at++);
    removed = (removed + 1) * 128 + (byte & 0x7f);
  }
  return { removed, next: at };
}

/** True if the bytes end with their checksum of this length. Git may leave the checksum out: then it is zeros, of the shorter length. */
function isChecked(bytes: Buffer, length: number): boolean {
  if (bytes.length < HEADER_BYTES + length) return false;
  const end = bytes.subarray(bytes.length - length);
  if (end.every((byte) => byte === 0)) return true;
  return createHash(length === 32 ? "sha256" : "sha1")
    .update(bytes.subarray(0, bytes.length - length))
    .digest()
    .equals(end);
}
