import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

/** A group of processes of which the kernel lets there be only so many. */
export interface ControlGroup {
  /** A process that writes 0 here is in it, with all that it starts. */
  readonly entry: string;
  remove(): Promise<void>;
}

// The kernel takes a moment to let go of processes that ended.
const REMOVE_ROUNDS = 20;
const REMOVE_PAUSE_MS = 5;

/** Makes one below the group of this process; `undefined` where that isn't ours to do. */
export async function createControlGroup(processes: number): Promise<ControlGroup | undefined> {
  const parent = await ownGroup();
  if (parent === undefined) return undefined;
  const path = join(parent, `keelson-${randomUUID()}`);
  const remove = async (): Promise<void> => {
    for (let round = 0; ; round++) {
      try {
        return await rmdir(path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
        if (round === REMOVE_ROUNDS) throw error;
        await sleep(REMOVE_PAUSE_MS);
      }
    }
  };
  try {
    await mkdir(path);
  } catch {
    return undefined; // the common case: the tree belongs to the system
  }
  try {
    await writeFile(join(path, "pids.max"), String(processes));
    return { entry: join(path, "cgroup.procs"), remove };
  } catch {
    await remove();
    return undefined;
  }
}

/** The folder of this process's group for numbers of processes, of the first or the second version of control groups. */
async function ownGroup(): Promise<string | undefined> {
  const lines = (await readFile("/proc/self/cgroup", "utf8").catch(() => "")).split("\n").map((line) => line.split(":"));
  const first = lines.find(([, controllers]) => controllers?.split(",").includes("pids") === true);
  if (first !== undefined) return join("/sys/fs/cgroup/pids", first.slice(2).join(":"));
  const second = lines.find(([number]) => number === "0");
  return second === undefined ? undefined : join("/sys/fs/cgroup", second.slice(2).join(":"));
}
