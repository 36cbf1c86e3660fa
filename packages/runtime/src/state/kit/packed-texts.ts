import { promisify } from "node:util";

/** Texts in one compressed piece (Zstandard), with the digest by which damage is known. */
export interface PackedTexts {
  readonly bytes: Uint8Array;
  /** Of `bytes`. */
  readonly sha256: Uint8Array;
}

/** Half of a mebibyte of records takes 15 ms of a thread beside the main one, and comes to a twentieth less than at the default, 3. */
const LEVEL = 9;

/** Well-formed texts. The work is done beside the main thread. */
export async function packTexts(texts: readonly string[]): Promise<PackedTexts> {
  const zlib = process.getBuiltinModule("node:zlib");
  // Their lengths first, so that they lie there as they are.
  const content = Buffer.from(`${JSON.stringify(texts.map(({ length }) => length))}\n${texts.join("")}`);
  const bytes = await promisify(zlib.zstdCompress)(content, { params: { [zlib.constants.ZSTD_c_compressionLevel]: LEVEL } });
  return { bytes, sha256: digestOf(bytes) };
}

/** The work is done beside the main thread. @returns nothing where the bytes are not those that were packed */
export async function unpackTexts(packed: PackedTexts): Promise<readonly string[] | undefined> {
  if (!isWhole(packed)) return undefined;
  const { zstdDecompress } = process.getBuiltinModule("node:zlib");
  try {
    return textsIn(await promisify(zstdDecompress)(packed.bytes));
  } catch {
    return undefined;
  }
}

/** For who can't wait, as within a transaction. @returns as {@link unpackTexts} */
export function unpackTextsNow(packed: PackedTexts): readonly string[] | undefined {
  if (!isWhole(packed)) return undefined;
  try {
    return textsIn(process.getBuiltinModule("node:zlib").zstdDecompressSync(packed.bytes));
  } catch {
    return undefined;
  }
}

export function isWhole({ bytes, sha256 }: PackedTexts): boolean {
  return digestOf(bytes).equals(sha256);
}

function digestOf(bytes: Uint8Array): Buffer {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(bytes).digest();
}

/** @throws where it is not what was packed */
function textsIn(content: Buffer): readonly string[] {
  const all = content.toString();
  let at = all.indexOf("\n") + 1;
  const lengths = JSON.parse(all.slice(0, at)) as readonly number[];
  return lengths.map((length) => all.slice(at, (at += length)));
}
