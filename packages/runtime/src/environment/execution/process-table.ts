import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { ProcessInfo } from "@keelson/protocol";
import { strayProcesses } from "./stray-processes.ts";

/** What an executor runs: the id of the first process, and the mark by which those that left its group are found. */
export interface ProcessRoot {
  readonly pid: number;
  readonly mark: string;
}

// Of the system: proc(5) counts time in these, on every Linux that Node runs on.
const TICKS_PER_SECOND = 100;
const STATES: { readonly [letter: string]: string } = {
  R: "running",
  S: "sleeping",
  D: "waiting",
  I: "idle",
  T: "stopped",
  t: "traced",
  Z: "ended",
  X: "ended",
};

/** The roots with all that descends from them, by /proc on Linux and by `ps` elsewhere. */
export async function processesBelow(roots: readonly ProcessRoot[]): Promise<readonly ProcessInfo[]> {
  if (roots.length === 0) return [];
  const all = process.platform === "linux" ? await readProc() : await readPs();
  const ours = new Set(roots.flatMap(({ pid, mark }) => [pid, ...(mark === "" ? [] : strayProcesses(mark))]));
  for (let before = -1; before !== ours.size;) {
    before = ours.size;
    for (const { pid, parentPid } of all) if (parentPid !== undefined && ours.has(parentPid)) ours.add(pid);
  }
  return all.filter(({ pid, state }) => ours.has(pid) && state !== "ended");
}

async function readProc(): Promise<readonly ProcessInfo[]> {
  const uptime = Number((await readFile("/proc/uptime", "latin1")).split(" ")[0]);
  const entries = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry));
  const found = await Promise.all(entries.map((entry) => readEntry(entry, uptime)));
  return found.filter((info) => info !== undefined);
}

/** Nothing of one that ended meanwhile. */
async function readEntry(entry: string, uptime: number): Promise<ProcessInfo | undefined> {
  try {
    const [stat, commandLine, status] = await Promise.all([
      readFile(`/proc/${entry}/stat`, "latin1"),
      readFile(`/proc/${entry}/cmdline`, "utf8"),
      readFile(`/proc/${entry}/status`, "latin1"),
    ]);
    const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    // The fields behind the name, the third of the line being the first here.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const seconds = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    const age = uptime - Number(fields[19]) / TICKS_PER_SECOND;
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
    return {
      pid: Number(entry),
      command: commandLine.split("\0").join(" ").trim() || `[${name}]`,
      ...(age > 0 && { cpuRatio: seconds / age }),
      ...(kibibytes !== undefined && { memoryBytes: Number(kibibytes) * 1024 }),
      parentPid: Number(fields[1]),
      state: STATES[fields[0] ?? ""] ?? "other",
    };
  } catch {
    return undefined;
  }
}

async function readPs(): Promise<readonly ProcessInfo[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,state=,pcpu=,rss=,args="], { maxBuffer: 64 * 1024 * 1024 });
  return stdout.split("\n").flatMap((line) => {
    const [, pid, parent, state, cpu, kibibytes, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+([\d.,]+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined || command === undefined) return [];
    return [
      {
        pid: Number(pid),
        command,
        cpuRatio: Number(cpu?.replace(",", ".")) / 100,
        memoryBytes: Number(kibibytes) * 1024,
        parentPid: Number(parent),
        state: STATES[state?.[0] ?? ""] ?? "other",
      },
    ];
  });
}
