/** The kind of a file that is no plain text, by its first bytes. */
export type FileKind =
  | { readonly kind: "image"; readonly mediaType: string }
  | { readonly kind: "pdf" }
  | { readonly kind: "binary"; readonly name: string; readonly command?: string };

type Signature = readonly [offset: number, bytes: string, kind: FileKind];

const image = (mediaType: string): FileKind => ({ kind: "image", mediaType });
const binary = (name: string, command?: string): FileKind => ({ kind: "binary", name, ...(command !== undefined && { command }) });

/** Bytes as Latin-1. The first match decides. */
const SIGNATURES: readonly Signature[] = [
  [0, "\x89PNG\r\n\x1a\n", image("image/png")],
  [0, "\xff\xd8\xff", image("image/jpeg")],
  [0, "GIF8", image("image/gif")],
  [8, "WEBP", image("image/webp")],
  [0, "%PDF-", { kind: "pdf" }],
  [0, "PK\x03\x04", binary("a ZIP archive, or a document in one", "unzip -l")],
  [0, "PK\x05\x06", binary("an empty ZIP archive")],
  [0, "\x1f\x8b", binary("compressed with gzip", "tar -tzf")],
  [0, "BZh", binary("compressed with bzip2", "tar -tjf")],
  [0, "\xfd7zXZ\x00", binary("compressed with xz", "tar -tJf")],
  [0, "\x28\xb5\x2f\xfd", binary("compressed with Zstandard")],
  [0, "7z\xbc\xaf\x27\x1c", binary("a 7-Zip archive")],
  [257, "ustar", binary("a tar archive", "tar -tf")],
  [0, "SQLite format 3\x00", binary("a SQLite database", "sqlite3 -readonly")],
  [0, "\x7fELF", binary("a program for Linux")],
  [0, "\x00asm", binary("a WebAssembly module")],
  [0, "\xca\xfe\xba\xbe", binary("a Java class or a program for macOS")],
  [0, "\xcf\xfa\xed\xfe", binary("a program for macOS")],
];
/** Bytes that are enough to recognise each of these. */
export const SIGNATURE_BYTES = 512;

/** Recognises images, PDFs and common binary formats by their bytes. `undefined` for everything else, text among it. */
export function fileKindOf(content: Uint8Array): FileKind | undefined {
  const start = Buffer.from(content.buffer, content.byteOffset, Math.min(content.byteLength, SIGNATURE_BYTES)).toString("latin1");
  const found = SIGNATURES.find(([offset, bytes]) => start.startsWith(bytes, offset));
  // Words such as "BZh" and "ustar" may be part of a text.
  return found !== undefined && isTextSignature(found) && !hasBinaryBytes(start) ? undefined : found?.[2];
}

function isTextSignature([, bytes, { kind }]: Signature): boolean {
  return kind !== "pdf" && kind !== "image" && /^[\x20-\x7e]*$/.test(bytes);
}

function hasBinaryBytes(start: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /[\u0000-\u0008\u000e-\u001a\u007f-\u00ff]/.test(start);
}
