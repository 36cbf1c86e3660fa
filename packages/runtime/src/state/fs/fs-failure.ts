import { StateError } from "@keelson/protocol";

/** What a failure of the file system means to a caller of a store. A `StateError` stays what it is. */
export function toStateError(cause: unknown, path: string): unknown {
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined;
  if (code === undefined || StateError.is(cause)) return cause;
  const reason = (cause as Error).message;
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return new StateError(
        {
          kind: "full",
          message: `There is no space left for ${path}: ${reason}. What was there stayed. Free space on its disk and try again.`,
        },
        { cause },
      );
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new StateError(
        {
          kind: "write-failed",
          message: `${path} can't be read or written: ${reason}. Check the permissions of the file and of its folder.`,
        },
        { cause },
      );
    case "EIO":
    case "EMFILE":
    case "ENFILE":
    case "ESTALE":
      return new StateError(
        { kind: "unavailable", message: `The file system failed on ${path}: ${reason}. Try again; if it goes on, check the disk.` },
        { cause },
      );
    default:
      return new StateError({ kind: "other", message: `The file system failed on ${path}: ${reason}.` }, { cause });
  }
}
