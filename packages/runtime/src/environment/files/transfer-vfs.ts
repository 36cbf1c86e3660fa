import type { TransferResult, Vfs, VfsCapability, VfsOptions } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { copyBetween, type CopyEnd } from "./copy-between.ts";
import { forwardFiles } from "./forward-files.ts";
import { unsupported } from "./vfs-failures.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { VFS_METHODS } from "../../json/interface-methods.ts";

export interface TransferVfsOptions {
  /** Where uploads go and downloads come from. All other calls are theirs. */
  readonly files: Vfs;
  /** What transfers may touch on the other side, as with `createDiskVfs({ root })`: a folder of this machine and nothing else. */
  readonly machine: Vfs;
}

/**
 * `files` with `upload` and `download`: copies of a file, or of a folder with the files in it, from and to `machine`. Paths
 * of the other side are those of `machine`, and bounded as it bounds them; whoever makes it decides which folders
 * those are. A file is replaced, a folder is not; what was written of a folder goes again when the copy fails.
 */
export function createTransferVfs(options: TransferVfsOptions): Vfs {
  checkOptionNames("createTransferVfs", options, { files: true, machine: true });
  const { files, machine } = options;
  const can = ({ capabilities }: Vfs, operation: VfsCapability): boolean => capabilities.has(operation);

  async function transfer(operation: "upload" | "download", from: CopyEnd, to: CopyEnd, options: VfsOptions = {}): Promise<TransferResult> {
    options.signal?.throwIfAborted();
    if (!can(from.files, "read") || !can(to.files, "write"))
      throw unsupported(operation, `${operation} needs files that can be read on one side and written on the other; these can't.`);
    const bytesTransferred = await copyBetween(from, to, { moves: false, ...options });
    return { path: (await to.files.stat(to.path)).path, bytesTransferred };
  }

  const transferring: Vfs = {
    get root() {
      return files.root ?? "/";
    },
    get capabilities() {
      const capabilities = new Set(files.capabilities);
      if (can(machine, "read") && can(files, "write")) capabilities.add("upload");
      if (can(machine, "write") && can(files, "read")) capabilities.add("download");
      return capabilities;
    },
    upload: (from, to, given) => transfer("upload", { files: machine, path: from }, { files, path: to }, given),
    download: (from, to, given) => transfer("download", { files, path: from }, { files: machine, path: to }, given),
    ...forwardFiles(files),
  };
  return checkMethodOptions("files", transferring, VFS_METHODS);
}
