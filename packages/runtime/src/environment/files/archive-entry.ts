import { isUtf8 } from "node:buffer";
import { VfsError } from "@keelson/protocol";

/** What an archive holds under a name, as far as it is a file or a folder. */
export interface PackedEntry {
  /** As it stands in the archive. */
  readonly name: string;
  readonly isDir: boolean;
  /** Uncompressed bytes, as the archive says. */
  readonly size: number;
  /** Unix ms. */
  readonly modified: number;
  readonly content: () => Promise<Uint8Array>;
}
/** A link, a device or the like: it is not unpacked. */
export interface LeftOutEntry {
  readonly name: string;
  readonly leftOut: string;
}
export type ArchivedEntry = PackedEntry | LeftOutEntry;

export function brokenArchive(format: string, what: string, cause?: unknown): VfsError {
  return new VfsError(
    { kind: "other", message: `The ${format} archive cannot be read: ${what}. Check that it is whole, and make it again if not.` },
    cause === undefined ? {} : { cause },
  );
}

export function archiveTooLarge(path: string, limit: "maxBytes" | "maxEntries", allowed: number): VfsError {
  const what = limit === "maxBytes" ? `unpacks to more than ${allowed} bytes` : `has more than ${allowed} entries`;
  return new VfsError({
    kind: "resource-limit",
    path,
    limit,
    message: `The archive ${what}, which ${limit} allows. Raise it only for archives you trust.`,
  });
}

/** Names of old archives are in some code page; as Latin-1 no two of them become one. */
export function nameFrom(bytes: Buffer): string {
  return bytes.toString(isUtf8(bytes) ? "utf8" : "latin1");
}
