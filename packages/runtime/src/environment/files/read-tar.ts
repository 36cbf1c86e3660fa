import { type ArchivedEntry, brokenArchive, nameFrom } from "./archive-entry.ts";

// Layout: POSIX.1-2017, pax interchange format and ustar; GNU's long names (types L and K).
const BLOCK = 512;

interface Header {
  readonly name: string;
  readonly size: number;
  readonly modified: number;
  readonly type: string;
  readonly link: string;
}
type Records = ReadonlyMap<string, string>;

/** The entries of a tar archive, in their order. A file that comes again replaces the one before. */
export function* readTar(archive: Buffer): Generator<ArchivedEntry> {
  let shared: Records = new Map();
  let own: Map<string, string> = new Map();
  for (let at = 0; at + BLOCK <= archive.byteLength;) {
    const block = archive.subarray(at, at + BLOCK);
    if (block.every((byte) => byte === 0)) return; // the end mark; what follows is padding
    const header = readHeader(block);
    const records = new Map([...shared, ...own]);
    const size = Number(records.get("size") ?? header.size);
    if (!Number.isSafeInteger(size) || size < 0) throw brokenArchive("tar", `${header.name} has an impossible size`);
    const bytes = archive.subarray(at + BLOCK, at + BLOCK + size);
    if (bytes.byteLength !== size) throw brokenArchive("tar", `${header.name} is cut off`);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    switch (header.type) {
      case "g":
        shared = new Map([...shared, ...readRecords(bytes)]);
        continue;
      case "x":
        own = new Map([...own, ...readRecords(bytes)]);
        continue;
      case "L":
        own.set("path", textUntilNul(bytes));
        continue;
      case "K":
        own.set("linkpath", textUntilNul(bytes));
        continue;
    }
    own = new Map();
    yield entryOf({ ...header, size }, records, bytes);
  }
}

/** True for what begins with a header whose checksum holds, and for an archive without entries. */
export function isTar(archive: Buffer): boolean {
  const block = archive.subarray(0, BLOCK);
  return block.byteLength === BLOCK && (block.every((byte) => byte === 0) || hasChecksum(block));
}

function entryOf(header: Header, records: Records, bytes: Buffer): ArchivedEntry {
  const name = records.get("path") ?? header.name;
  const time = Number(records.get("mtime") ?? Number.NaN);
  const modified = Number.isFinite(time) ? Math.trunc(time * 1000) : header.modified;
  if ([...records.keys()].some((key) => key.startsWith("GNU.sparse."))) return { name, leftOut: "it is a sparse file" };
  switch (header.type) {
    case "0":
    case "\0":
    case "7":
      // Before types, a slash at the end said that it is a folder.
      return { name, isDir: name.endsWith("/"), size: bytes.byteLength, modified, content: async () => bytes };
    case "5":
      return { name, isDir: true, size: 0, modified, content: async () => new Uint8Array() };
    case "1":
    case "2":
      return { name, leftOut: `it is a link to ${records.get("linkpath") ?? header.link}` };
    default:
      return { name, leftOut: `it is of type ${header.type} (a device, a pipe or the like)` };
  }
}

function readHeader(block: Buffer): Header {
  if (!hasChecksum(block)) throw brokenArchive("tar", "the checksum of a header is wrong");
  const isUstar = block.subarray(257, 262).toString("latin1") === "ustar";
  const prefix = isUstar && block[263] === 0x30 ? textUntilNul(block.subarray(345, 500)) : "";
  const name = textUntilNul(block.subarray(0, 100));
  return {
    name: prefix === "" ? name : `${prefix}/${name}`,
    size: readNumber(block.subarray(124, 136)),
    modified: readNumber(block.subarray(136, 148)) * 1000,
    type: String.fromCharCode(block[156] as number),
    link: textUntilNul(block.subarray(157, 257)),
  };
}

function hasChecksum(block: Buffer): boolean {
  let sum = 0;
  for (const [index, byte] of block.entries()) sum += index >= 148 && index < 156 ? 0x20 : byte;
  return sum === readNumber(block.subarray(148, 156));
}

/** Octal digits; or, with the first bit set, a big-endian number, as GNU writes what octal cannot hold. */
function readNumber(field: Buffer): number {
  if (((field[0] as number) & 0x80) === 0) {
    const digits = field.toString("latin1").replace(/\0.*$/s, "").trim();
    return /^[0-7]*$/.test(digits) ? Number.parseInt(digits === "" ? "0" : digits, 8) : Number.NaN;
  }
  let value = (field[0] as number) & 0x7f;
  for (const byte of field.subarray(1)) value = value * 256 + byte;
  return value;
}

/** Records of pax: `<length> <key>=<value>\n`, the length that of the whole record in bytes. */
function readRecords(bytes: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.byteLength;) {
    const space = bytes.indexOf(0x20, at);
    const length = space === -1 ? Number.NaN : Number(bytes.subarray(at, space).toString("latin1"));
    if (!Number.isInteger(length) || length < 5 || at + length > bytes.byteLength)
      throw brokenArchive("tar", "an extended header is broken");
    const record = bytes.subarray(space + 1, at + length - 1).toString("utf8");
    const equals = record.indexOf("=");
    if (equals > 0) records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}

function textUntilNul(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return nameFrom(bytes.subarray(0, end === -1 ? bytes.byteLength : end));
}
