import { type Vfs, VfsError } from "@keelson/protocol";

/**
 * Refuses to change a file if that would do more than it seems: a folder, a read-only file, one of several hard links, and for a deletion or a move
 * a symbolic link. Used before the first change of several, so that none is made if one is refused.
 * @param change `write` replaces the content, `remove` deletes or moves the name
 */
export async function requireChangeable(files: Vfs, path: string, change: "write" | "remove", signal: AbortSignal): Promise<void> {
  const { isDir, isSymlink, permissions = 0o600, links = 1 } = await files.stat(path, { signal });
  if (isDir)
    throw new VfsError({ kind: "is-directory", path, message: `${path} is a folder, not a file. Use a command to move or delete it.` });
  if (isSymlink && change === "remove")
    throw new VfsError({
      kind: "operation-denied",
      path,
      message: `${path} is a symbolic link; it was left as it is. Name the file that it leads to, or use a command.`,
    });
  if ((permissions & 0o222) === 0)
    throw new VfsError({
      kind: "permission-denied",
      path,
      message: `${path} is read-only (mode ${(permissions & 0o777).toString(8)}); it was left as it is. If it should be changed, make it writable first: chmod u+w.`,
    });
  if (links > 1 && change === "write")
    throw new VfsError({
      kind: "operation-denied",
      path,
      message: `${path} is one of ${links} names (hard links) of the same file; it was left as it is, because the others would keep the old content. Make it a file of its own first (cp -p FILE FILE.new && mv FILE.new FILE).`,
    });
}
