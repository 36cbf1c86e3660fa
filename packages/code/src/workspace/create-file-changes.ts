import { type FileInfo, type Vfs, VfsError } from "@keelson/protocol";
import { filesOf, type WorkspaceFiles } from "../tools/workspace-files.ts";
import type { FileChanges } from "./file-changes.ts";
import type { FileTexts } from "./file-texts.ts";

export interface FileChangesOptions {
  readonly files: WorkspaceFiles;
  /** The texts of files that were read. A changed file loses its entry. */
  readonly texts?: Pick<FileTexts, "drop"> | undefined;
}

/** Makes changes directly on the files of the tools, without a history. */
export function createFileChanges({ files: own, texts }: FileChangesOptions): FileChanges {
  const dropAfter = async (paths: readonly string[], change: () => Promise<unknown>): Promise<void> => {
    try {
      await change();
    } finally {
      for (const path of paths) texts?.drop(path);
    }
  };
  return {
    async write(path, content, call, { ifUnchanged }) {
      const files = filesOf(call, own, "edit_file");
      await dropAfter([path], () => files.write(path, content, { signal: call.signal, ifUnchanged }));
    },
    async delete(path, call, { ifUnchanged }) {
      const files = filesOf(call, own, "edit_file");
      await requireRemovable(files, path, ifUnchanged, call.signal);
      await dropAfter([path], () => files.rm(path, { signal: call.signal }));
    },
    async move(from, to, call, { ifUnchanged }) {
      const files = filesOf(call, own, "edit_file");
      await requireRemovable(files, from, ifUnchanged, call.signal);
      if ((await infoOf(files, to, call.signal)) !== undefined)
        throw new VfsError({ kind: "conflict", path: to, message: `${to} exists already; ${from} was not moved onto it.` });
      await dropAfter([from, to], () => files.mv(from, to, { signal: call.signal }));
    },
  };
}

/** Refuses what a deletion or a move of a name would not do as expected: a folder, a symbolic link, a read-only file, a changed file. */
async function requireRemovable(files: Vfs, path: string, ifUnchanged: Uint8Array, signal: AbortSignal): Promise<void> {
  const { isDir, isSymlink, permissions = 0o600 } = await files.stat(path, { signal });
  if (isDir)
    throw new VfsError({ kind: "is-directory", path, message: `${path} is a folder, not a file. Use a command to move or delete it.` });
  if (isSymlink)
    throw new VfsError({
      kind: "operation-denied",
      path,
      message: `${path} is a symbolic link; it was left as it is. Name the file that it leads to, or use a command.`,
    });
  if ((permissions & 0o222) === 0)
    throw new VfsError({
      kind: "permission-denied",
      path,
      message: `${path} is read-only (mode ${(permissions & 0o777).toString(8)}); it was left as it is. If it should go, make it writable first: chmod u+w.`,
    });
  const { content } = await files.read(path, { signal });
  if (Buffer.compare(content, ifUnchanged) !== 0)
    throw new VfsError({ kind: "conflict", path, message: `${path} is not as expected: its content changed. Read it again.` });
}

async function infoOf(files: Vfs, path: string, signal: AbortSignal): Promise<FileInfo | undefined> {
  try {
    return await files.stat(path, { signal });
  } catch (error) {
    if (VfsError.is(error, "not-found")) return undefined;
    throw error;
  }
}
