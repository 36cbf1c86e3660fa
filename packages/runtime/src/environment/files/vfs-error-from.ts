import { VfsError } from "@keelson/protocol";

/** The typed error for what the system said about `path`. A `VfsError` passes through. */
export function vfsErrorFrom(error: unknown, path: string): VfsError {
  if (VfsError.is(error)) return error;
  const code = systemCode(error);
  const options = { cause: error };
  switch (code) {
    case "ENOENT":
      return new VfsError({ kind: "not-found", path, message: `No such file or folder: ${path}.` }, options);
    case "EACCES":
    case "EPERM":
      return new VfsError({ kind: "permission-denied", path, message: `The system denies access to ${path} (${code}).` }, options);
    case "EROFS":
      return new VfsError({ kind: "permission-denied", path, message: `${path} is on a read-only file system.` }, options);
    case "EISDIR":
      return new VfsError({ kind: "is-directory", path, message: `${path} is a folder, not a file.` }, options);
    case "ENOTDIR":
      return new VfsError({ kind: "not-directory", path, message: `A part of ${path} is a file where a folder is needed.` }, options);
    case "ENOSPC":
    case "EDQUOT":
      return new VfsError(
        {
          kind: "io",
          path,
          code,
          message: `No space left on the disk for ${path} (${code}); the file is as it was. Free some space and try again.`,
        },
        options,
      );
    case "ETIMEDOUT":
      return new VfsError(
        { kind: "timeout", path, message: `The system gave no answer for ${path} in time (${code}). Try again.` },
        options,
      );
    case undefined:
      return new VfsError({ kind: "other", message: `${path}: ${error instanceof Error ? error.message : String(error)}` }, options);
    default:
      return new VfsError({ kind: "io", path, code, message: `The system failed on ${path}: ${(error as Error).message}` }, options);
  }
}

/** The system's error code (`ENOENT` and so on), if there is one. */
export function systemCode(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : undefined;
}
