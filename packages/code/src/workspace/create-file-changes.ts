import { type FileInfo, type Vfs, VfsError } from "@keelson/protocol";
import type { WorkspaceFiles } from "./workspace-files.ts";
import { filesOf } from "../tools/call-files.ts";
import type { ChangingCall, FileChanges } from "./file-changes.ts";
import { requireChangeable } from "./require-changeable.ts";
import type { FileTexts } from "./file-texts.ts";

export interface FileChangesOptions {
  readonly files: WorkspaceFiles;
  /** The texts of files that were read. A changed file loses its entry. */
  readonly texts?: Pick<FileTexts, "drop"> | undefined;
}

/** Makes changes directly on the files of the tools, without a history. */
export function createFileChanges({ files: own, texts }: FileChangesOptions): FileChanges {
  const filesFor = ({ environment }: ChangingCall): Vfs =>
    filesOf({ ...(environment && { environment }), context: { files: own } }, "edit_file");
  const dropAfter = async (paths: readonly string[], change: () => Promise<unknown>): Promise<void> => {
    try {
      await change();
    } finally {
      for (const path of paths) texts?.drop(path);
    }
  };
  return {
    async write(path, content, call, { ifUnchanged }) {
      const files = filesFor(call);
      await dropAfter([path], () => files.write(path, content, { signal: call.signal, ifUnchanged }));
    },
    async delete(path, call, { ifUnchanged }) {
      const files = filesFor(call);
      await requireRemovable(files, path, ifUnchanged, call.signal);
      await dropAfter([path], () => files.rm(path, { signal: call.signal }));
    },
    async move(from, to, call, { ifUnchanged }) {
      const files = filesFor(call);
      await requireRemovable(files, from, ifUnchanged, call.signal);
      if ((await infoOf(files, to, call.signal)) !== undefined)
        throw new VfsError({ kind: "conflict", path: to, message: `${to} exists already; ${from} was not moved onto it.` });
      await dropAfter([from, to], () => files.mv(from, to, { signal: call.signal }));
    },
  };
}

/** Refuses a deletion or a move that would do more than it seems, and one of a file that changed. */
async function requireRemovable(files: Vfs, path: string, ifUnchanged: Uint8Array, signal: AbortSignal): Promise<void> {
  await requireChangeable(files, path, "remove", signal);
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
