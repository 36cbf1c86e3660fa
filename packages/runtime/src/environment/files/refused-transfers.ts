import type { Vfs } from "@keelson/protocol";
import { unsupported } from "./vfs-failures.ts";

/** Both ways of files that have no other side: refused, with what to do instead. */
export function refusedTransfers(instead: { readonly upload: string; readonly download: string }): Pick<Vfs, "upload" | "download"> {
  return {
    upload: async () => {
      throw unsupported("upload", instead.upload);
    },
    download: async () => {
      throw unsupported("download", instead.download);
    },
  };
}

const ON_DISK = "These files are on this machine already: use cp, or createTransferVfs for those of another folder.";

/** Of files on the disk. */
export const TRANSFERS_ON_DISK: Pick<Vfs, "upload" | "download"> = refusedTransfers({ upload: ON_DISK, download: ON_DISK });
