import { execFileSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serverUser } from "./postgres-server.ts";

/** A disk in memory of a few megabytes, which a server may fill. Only root may mount one. */
export interface SmallDisk extends Disposable {
  readonly folder: string;
  /** Gives it so many megabytes in all. */
  grow(megabytes: number): void;
}

/** Dispose of it after the server that uses it: it can't be unmounted before. */
export function mountSmallDisk(megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), "keelson-small-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder]);
  const user = serverUser();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  return {
    folder,
    grow(size) {
      execFileSync("mount", ["-o", `remount,size=${size}m`, folder]);
    },
    [Symbol.dispose]() {
      // Lazily: processes of a server that was ended by force may still hold it for a moment.
      execFileSync("umount", ["--lazy", folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
