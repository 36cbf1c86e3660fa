import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Groups of processes that the kernel bounds together. */
export interface ControlGroup {
  /** A process that writes 0 to each of these is in it, with all that it starts. */
  readonly entries: readonly string[];
  readonly boundsProcesses: boolean;
  readonly boundsMemory: boolean;
  readonly boundsCpus: boolean;
  /** Whether the kernel ended one of its processes, because they held all the memory that they may. */
  ranOutOfMemory(): Promise<boolean>;
  remove(): Promise<void>;
}

export interface GroupLimits {
  readonly processes: number;
  /** Bytes. */
  readonly memory?: number | undefined;
  /** Processors. */
  readonly cpus?: number | undefined;
}

interface Group {
  readonly path: string;
  readonly limits: readonly string[];
}

// The kernel takes a moment to let go of processes that ended.
const REMOVE_ROUNDS = 20;
const REMOVE_PAUSE_MS = 5;
const CPU_PERIOD_US = 100_000;
// Of either version; each has one of them.
const OF_MEMORY = ["memory.oom_control", "memory.events"];
const NAME = /^keelson-(\d+)-/;

/** Makes what can be made of them below the groups of this process; `undefined` where that isn't ours to do. */
export async function createControlGroup({ processes, memory, cpus }: GroupLimits): Promise<ControlGroup | undefined> {
  const name = `keelson-${process.pid}-${randomUUID()}`;
  const { pids, memory: ofMemory, cpu, unified } = await ownGroups();
  const pidLimit = { "pids.max": String(processes) };
  const quota = cpus === undefined ? undefined : String(Math.round(cpus * CPU_PERIOD_US));
  const made =
    unified === undefined
      ? [
          await makeGroup(pids, name, pidLimit),
          memory === undefined ? undefined : await makeGroup(ofMemory, name, { "memory.limit_in_bytes": String(memory) }),
          quota === undefined
            ? undefined
            : await makeGroup(cpu, name, { "cpu.cfs_period_us": String(CPU_PERIOD_US), "cpu.cfs_quota_us": quota }),
        ]
      : [
          await makeGroup(unified, name, {
            ...pidLimit,
            ...(memory !== undefined && { "memory.max": String(memory) }),
            ...(quota !== undefined && { "cpu.max": `${quota} ${CPU_PERIOD_US}` }),
          }),
        ];
  const groups = made.filter((group) => group !== undefined);
  if (groups.length === 0) return undefined;
  return {
    entries: groups.map(({ path }) => join(path, "cgroup.procs")),
    boundsProcesses: groups.some(({ limits }) => limits.includes("pids.max")),
    boundsMemory: groups.some(({ limits }) => limits.some((limit) => limit.startsWith("memory."))),
    boundsCpus: groups.some(({ limits }) => limits.some((limit) => limit.startsWith("cpu."))),
    async ranOutOfMemory() {
      const told = await Promise.all(
        groups.flatMap(({ path }) => OF_MEMORY.map((file) => readFile(join(path, file), "utf8").catch(() => ""))),
      );
      return told.some((text) => /^oom_kill [1-9]/m.test(text));
    },
    async remove() {
      for (const { path } of groups) await removeGroup(path);
    },
  };
}

async function makeGroup(
  parent: string | undefined,
  name: string,
  limits: { readonly [file: string]: string },
): Promise<Group | undefined> {
  if (parent === undefined) return undefined;
  const path = join(parent, name);
  await removeLeftOver(parent);
  try {
    await mkdir(path);
  } catch {
    return undefined; // the common case: the tree belongs to the system
  }
  try {
    for (const [file, value] of Object.entries(limits)) await writeFile(join(path, file), value);
    return { path, limits: Object.keys(limits) };
  } catch {
    await removeGroup(path);
    return undefined;
  }
}

/** Groups of processes that were killed before they could remove them. One that is in use can't be removed. */
async function removeLeftOver(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const pid = NAME.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await rmdir(join(parent, name)).catch(() => {});
  }
}

async function removeGroup(path: string): Promise<void> {
  for (let round = 0; ; round++) {
    try {
      return await rmdir(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      if (round === REMOVE_ROUNDS) throw error;
      await sleep(REMOVE_PAUSE_MS);
    }
  }
}

interface OwnGroups {
  readonly pids?: string;
  readonly memory?: string;
  readonly cpu?: string;
  readonly unified?: string;
}

/** The folders of this process's groups: one for each kind of limit in the first version of control groups, one for all in the second. */
async function ownGroups(): Promise<OwnGroups> {
  const lines = (await readFile("/proc/self/cgroup", "utf8").catch(() => "")).split("\n").map((line) => line.split(":"));
  const first = (controller: string): string | undefined => {
    // Controllers that are mounted together stand in one folder, which each of their names leads to.
    const line = lines.find(([, controllers]) => controllers?.split(",").includes(controller) === true);
    return line === undefined ? undefined : join("/sys/fs/cgroup", controller, line.slice(2).join(":"));
  };
  const [pids, memory, cpu] = [first("pids"), first("memory"), first("cpu")];
  if (pids !== undefined || memory !== undefined || cpu !== undefined)
    return { ...(pids !== undefined && { pids }), ...(memory !== undefined && { memory }), ...(cpu !== undefined && { cpu }) };
  const second = lines.find(([number]) => number === "0");
  return second === undefined ? {} : { unified: join("/sys/fs/cgroup", second.slice(2).join(":")) };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
