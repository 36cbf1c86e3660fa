import { mkdirSync } from "node:fs";
import { chmod, readFile } from "node:fs/promises";
import { dirname, join } from "node:path/posix";
import { setTimeout as sleep } from "node:timers/promises";
import { EnvironmentError } from "@keelson/protocol";
import { replacePrivateFile } from "../../platform/private-file.ts";
import { createFolderView } from "../files/disk-view.ts";
import { createViewedVfs } from "../files/disk-vfs.ts";
import { systemCode } from "../files/vfs-error-from.ts";
import { isWithin, joinPath } from "../files/virtual-path.ts";
import { findBubblewrap } from "../sandbox/find-bubblewrap.ts";
import { readMountTable } from "../sandbox/mount-table.ts";
import { atEntry, namesIn } from "./anchored-entry.ts";
import { statsOf } from "./base-states.ts";
import type { OverlayLayer } from "./overlay-layer.ts";
import { resolveEntry } from "./resolve-entry.ts";
import { timeAfterChanges } from "./time-after-changes.ts";
import { isMountedAnywhere, mountOverlay } from "./overlay-mount.ts";

// Of the commands of a killed process: the kernel ends them with it.
const GONE_LIMIT_MS = 10_000;
const LOOK_MS = 20;

/**
 * A layer that the kernel keeps, so that commands write to it, too: they run where it is mounted over the base.
 * @throws EnvironmentError of kind `provision-failed` with the reason, where it can't be mounted or no command could run in it
 */
export async function createMountedLayer(base: string, folder: string, maxReadBytes: number): Promise<OverlayLayer> {
  await findBubblewrap();
  const inner = (await readMountTable("self")).find(({ path }) => path !== base && isWithin(base, path));
  if (inner !== undefined) throw cannot(`${inner.path} in it is a mount, which overlayfs would not show`);
  const [upper, work] = [join(folder, "upper"), join(folder, "work")];
  for (const made of [upper, work]) mkdirSync(made, { recursive: true });
  await waitUntilGone(upper);

  const marks = join(folder, "mounted.json");
  const before = await readFile(marks, "utf8").catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  });
  const mountedMs = await timeAfterChanges(join(folder, "mounting"));
  let unsureSinceMs = before === undefined ? mountedMs : (JSON.parse(before) as { readonly sinceMs: number }).sinceMs;

  const mount = await mountOverlay(base, upper, work);
  const disk = createFolderView(base, mount.root, mount.device);
  const files = createViewedVfs(disk, { root: base, maxReadBytes });
  const { uid, gid } = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

  return {
    root: base,
    files,
    commands: { folder: base, place: { disk, enter: mount.enter, user: { uid, gid }, mountTable: async () => mount.table } },
    get unsureSinceMs() {
      return unsureSinceMs;
    },
    // One that came to be in the base since then need not be in the kernel's listing.
    showed: async (path) => ((await statsOf(joinPath(base, path)))?.ctimeMs ?? Infinity) < unsureSinceMs,
    hidesFolders: true,
    resolve: async (path, asEntry) => (asEntry ? resolveEntry(files, path) : files.resolve(path)),
    list: (path) => namesIn(base, joinPath(base, path), disk),
    held: (path) => namesIn(upper, joinPath(upper, path)),
    reach: (path, use) => atEntry(base, joinPath(base, path), use, disk),
    at: async (path) => disk.locate(joinPath(base, path)),
    async settle() {
      await replacePrivateFile(marks, JSON.stringify({ sinceMs: mountedMs }));
      unsureSinceMs = mountedMs;
    },
    async [Symbol.asyncDispose]() {
      await mount[Symbol.asyncDispose]();
      // The kernel lets nobody into the folder that it makes there, and so nobody but the first user could remove it.
      await chmod(join(work, "work"), 0o700).catch((error: unknown) => {
        if (systemCode(error) !== "ENOENT") throw error;
      });
    },
  };

  function cannot(reason: string): EnvironmentError {
    return new EnvironmentError({ kind: "provision-failed", message: `overlayfs can't be mounted over ${base}: ${reason}` });
  }
  /** Two mounts that write to one folder do not know of each other. */
  async function waitUntilGone(path: string): Promise<void> {
    for (let waited = 0; await isMountedAnywhere(path); waited += LOOK_MS) {
      if (waited >= GONE_LIMIT_MS) throw cannot(`a process still uses ${dirname(folder)}, where its changes are kept`);
      await sleep(LOOK_MS);
    }
  }
}
