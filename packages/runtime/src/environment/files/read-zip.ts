import { crc32, inflateRaw } from "node:zlib";
import { type ArchivedEntry, brokenArchive, nameFrom } from "./archive-entry.ts";

// Layout: PKWARE's APPNOTE.TXT, sections 4.3 to 4.5.
const END_OF_DIRECTORY = 0x06054b50;
const END_OF_DIRECTORY_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_ENTRY = 0x04034b50;
const EXTRA_64 = 1;
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;
const UNIX_FILE_TYPES = 0xf000;
const UNIX_FOLDER = 0x4000;
const UNIX_FILE = 0x8000;

/** The entries of a zip archive, by its central directory. Their content is unpacked when it is asked for. */
export function* readZip(archive: Buffer): Generator<ArchivedEntry> {
  let count: number;
  let at: number;
  try {
    ({ count, start: at } = findDirectory(archive));
    for (let index = 0; index < count; index++) {
      if (archive.readUInt32LE(at) !== DIRECTORY_ENTRY) throw brokenArchive("zip", `entry ${index + 1} is not where it should be`);
      const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) => archive.readUInt16LE(at + offset)) as [
        number,
        number,
        number,
      ];
      const end = at + 46 + nameBytes + extraBytes + commentBytes;
      if (end > archive.byteLength) throw brokenArchive("zip", "it is cut off");
      yield readEntry(archive, at, nameBytes, extraBytes);
      at = end;
    }
  } catch (error) {
    if (error instanceof RangeError) throw brokenArchive("zip", "it is cut off", error);
    throw error;
  }
}

function findDirectory(archive: Buffer): { count: number; start: number } {
  const lowest = Math.max(0, archive.byteLength - END_BYTES - MAX_COMMENT_BYTES);
  for (let at = archive.byteLength - END_BYTES; at >= lowest; at--) {
    // The comment reaches to the end exactly; a signature within one does not count.
    if (archive.readUInt32LE(at) !== END_OF_DIRECTORY || at + END_BYTES + archive.readUInt16LE(at + 20) !== archive.byteLength) continue;
    if (at >= 20 && archive.readUInt32LE(at - 20) === LOCATOR_64) {
      const far = Number(archive.readBigUInt64LE(at - 12));
      if (archive.readUInt32LE(far) === END_OF_DIRECTORY_64)
        return { count: Number(archive.readBigUInt64LE(far + 32)), start: Number(archive.readBigUInt64LE(far + 48)) };
    }
    return { count: archive.readUInt16LE(at + 10), start: archive.readUInt32LE(at + 16) };
  }
  throw brokenArchive("zip", "it has no directory at its end");
}

function readEntry(archive: Buffer, at: number, nameBytes: number, extraBytes: number): ArchivedEntry {
  const flags = archive.readUInt16LE(at + 8);
  const method = archive.readUInt16LE(at + 10);
  const checksum = archive.readUInt32LE(at + 16);
  const name = nameFrom(archive.subarray(at + 46, at + 46 + nameBytes));
  const { size, packedSize, start } = sizesOf(archive, at, at + 46 + nameBytes, extraBytes);
  const type = (archive.readUInt32LE(at + 38) >>> 16) & UNIX_FILE_TYPES;
  const isDir = name.endsWith("/") || type === UNIX_FOLDER;
  if (flags & 1) return { name, leftOut: "it is encrypted" };
  if (type !== 0 && type !== UNIX_FILE && type !== UNIX_FOLDER) return { name, leftOut: "it is a link or a device" };
  if (!isDir && method !== 0 && method !== 8) return { name, leftOut: `it is packed by method ${method}, which is not read` };

  const content = async (): Promise<Uint8Array> => {
    if (isDir) return new Uint8Array();
    if (start + 30 > archive.byteLength || archive.readUInt32LE(start) !== LOCAL_ENTRY)
      throw brokenArchive("zip", `the content of ${name} is not where it should be`);
    const from = start + 30 + archive.readUInt16LE(start + 26) + archive.readUInt16LE(start + 28);
    const packed = archive.subarray(from, from + packedSize);
    if (packed.byteLength !== packedSize) throw brokenArchive("zip", `the content of ${name} is cut off`);
    const bytes = method === 0 ? packed : await inflate(packed, size, name);
    if (bytes.byteLength !== size || crc32(bytes) !== checksum)
      throw brokenArchive("zip", `the content of ${name} is not what its checksum says`);
    return bytes;
  };
  return { name, isDir, size: isDir ? 0 : size, modified: dosTime(archive.readUInt16LE(at + 14), archive.readUInt16LE(at + 12)), content };
}

/** Sizes and places over 4 GiB stand in an extra field, in this order, each only when its own field is all ones. */
function sizesOf(archive: Buffer, at: number, extraAt: number, extraBytes: number): { size: number; packedSize: number; start: number } {
  const plain = [archive.readUInt32LE(at + 24), archive.readUInt32LE(at + 20), archive.readUInt32LE(at + 42)];
  for (let field = extraAt; field + 4 <= extraAt + extraBytes; field += 4 + archive.readUInt16LE(field + 2)) {
    if (archive.readUInt16LE(field) !== EXTRA_64) continue;
    let value = field + 4;
    for (const [index, known] of plain.entries()) {
      if (known !== 0xffffffff) continue;
      plain[index] = Number(archive.readBigUInt64LE(value));
      value += 8;
    }
  }
  const [size, packedSize, start] = plain as [number, number, number];
  return { size, packedSize, start };
}

function inflate(packed: Buffer, size: number, name: string): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  // No more than it says it has, whatever it unpacks to; zlib refuses a limit of nothing.
  inflateRaw(packed, { maxOutputLength: Math.max(1, size) }, (error, bytes) => {
    if (error) reject(brokenArchive("zip", `the content of ${name} does not unpack to the size it says`, error));
    else resolve(bytes);
  });
  return promise;
}

/** Local time without a zone, taken as UTC, so that it is the same everywhere. */
function dosTime(date: number, time: number): number {
  return Date.UTC(1980 + (date >> 9), ((date >> 5) & 15) - 1, date & 31, time >> 11, (time >> 5) & 63, (time & 31) * 2);
}
