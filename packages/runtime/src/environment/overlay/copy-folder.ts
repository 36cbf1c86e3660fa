import { constants } from "node:fs";
import { chmod, copyFile, lstat, open, readdir, readlink, symlink, utimes } from "node:fs/promises";
import { VfsError } from "@keelson/protocol";
import { type AnchoredDirectory, ensureDirectory, type EntryName, openChild } from "../files/anchored-directory.ts";
import { vfsErrorFrom } from "../files/vfs-error-from.ts";

/**
 * Copies what a folder holds into another one, which is empty: content, modes and times, links as links. What becomes a link while it is being
 * copied is refused, never followed. Where the file system can, content is shared until one of both is changed.
 * @param root what nothing is read outside of
 */
export async function copyFolder(
  from: AnchoredDirectory,
  to: AnchoredDirectory,
  { root, leaveOut }: { readonly root: string; readonly leaveOut: (name: string) => boolean },
): Promise<void> {
  for (const name of await readdir(from.self, { encoding: "buffer" })) {
    if (leaveOut(name.toString())) continue;
    const path = from.pathOf(name);
    try {
      await copyEntry(from, to, name);
    } catch (error) {
      throw vfsErrorFrom(error, path);
    }
  }

  async function copyEntry(source: AnchoredDirectory, target: AnchoredDirectory, name: EntryName): Promise<void> {
    const stats = await lstat(source.at(name));
    if (stats.isSymbolicLink()) return symlink(await readlink(source.at(name), { encoding: "buffer" }), target.at(name));
    if (stats.isDirectory()) {
      {
        await using inner = await openChild(source, name, root);
        await using made = await ensureDirectory(target, name, target.path);
        await copyFolder(inner, made, { root, leaveOut });
      }
      await chmod(target.at(name), stats.mode);
    } else if (stats.isFile()) await copyContent(source, target, name);
    else
      throw new VfsError({
        kind: "unsupported",
        operation: "cp",
        message: `${source.pathOf(name)} is neither a file, a folder nor a link (but a pipe, socket or device), and can't be copied.`,
      });
    await utimes(target.at(name), stats.atime, stats.mtime);
  }
}

async function copyContent(source: AnchoredDirectory, target: AnchoredDirectory, name: EntryName): Promise<void> {
  await using file = await open(source.at(name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  // On Linux the very file that was opened; elsewhere its path once more.
  const opened = source.self === source.path ? source.at(name) : `/proc/self/fd/${file.fd}`;
  await copyFile(opened, target.at(name), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
}
