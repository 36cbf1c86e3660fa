import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const FIRST_LOOK_MS = 2;
const LAST_LOOK_MS = 50;
// How long the kernel may take to carry out SIGKILL.
const KILL_LIMIT_MS = 2_000;
// How long one that becomes another program may take for it: on a busy machine it may have to wait for a processor.
const START_LIMIT_MS = 500;
// PF_KTHREAD of the kernel's include/linux/sched.h: its own threads have no environment.
const KERNEL_THREAD = 0x200000;

/** Whether processes that left their group can be found here: Linux shows the environment that each began with. */
export function canFindStrays(): boolean {
  return process.platform === "linux" && existsSync("/proc/self/environ");
}

/**
 * Processes that a command started and that left its group (`setsid`, a daemon), known by a variable that they inherited: those that
 * have it, their descendants, and whoever shares their sessions. One that was started without the variable, in a session of its own, and
 * whose parent is gone, is not among them.
 */
export function strayProcesses(variable: string): readonly number[] {
  return lookAround(variable, new Set()).strays;
}

interface Look {
  readonly strays: readonly number[];
  /** One that ended while we looked may have started another before, which we had passed by then. */
  readonly hasAnyEnded: boolean;
  readonly isAnyStarting: boolean;
}

/** @param sessions those in which there were strays before: whoever is found in them is one. Those of now are added. */
function lookAround(variable: string, sessions: Set<number>): Look {
  if (!canFindStrays()) return { strays: [], hasAnyEnded: false, isAnyStarting: false };
  const found = readdirSync("/proc").flatMap((entry) =>
    /^\d+$/.test(entry) && Number(entry) !== process.pid ? [look(entry, variable)] : [],
  );
  const others = found.filter((one) => typeof one === "object");
  const strays = new Set<number>();
  for (let before = -1; before !== strays.size;) {
    before = strays.size;
    for (const { pid, parent, session, isMarked } of others) {
      if (!isMarked && !strays.has(parent) && !sessions.has(session)) continue;
      strays.add(pid);
      sessions.add(session);
    }
  }
  return { strays: [...strays], hasAnyEnded: found.includes("ended"), isAnyStarting: others.some(({ isStarting }) => isStarting) };
}

/** Ends them: SIGTERM, after `graceMs` SIGKILL. @returns those that are left all the same */
export async function endStrays(variable: string, graceMs: number): Promise<readonly number[]> {
  const sessions = new Set<number>();
  const find = async (): Promise<readonly number[]> => {
    for (let waited = 0, isSecond = false; ; waited += FIRST_LOOK_MS, isSecond = true) {
      const { strays, hasAnyEnded, isAnyStarting } = lookAround(variable, sessions);
      if (strays.length > 0 || waited >= START_LIMIT_MS || !(isAnyStarting || (hasAnyEnded && !isSecond))) return strays;
      await sleep(FIRST_LOOK_MS);
    }
  };
  let left = await find();
  for (const [signal, limitMs] of [
    ["SIGTERM", graceMs],
    ["SIGKILL", KILL_LIMIT_MS],
  ] as const) {
    let lookMs = FIRST_LOOK_MS;
    for (let waited = 0; left.length > 0 && waited < limitMs; lookMs = Math.min(LAST_LOOK_MS, lookMs * 2)) {
      // Who was started meanwhile is asked, too.
      for (const pid of left) send(pid, signal);
      const step = Math.min(lookMs, limitMs - waited);
      await sleep(step);
      waited += step;
      left = await find();
    }
  }
  return left;
}

/** At once, for a process that is about to exit. */
export function killStrays(variable: string): void {
  for (const pid of strayProcesses(variable)) send(pid, "SIGKILL");
}

interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  readonly isMarked: boolean;
  /** It becomes another program just now, and has no environment until it is one. */
  readonly isStarting: boolean;
}

/** Nothing of one that belongs to somebody else and can't be ended by us. */
function look(entry: string, variable: string): Seen | "ended" | undefined {
  try {
    const stat = readFileSync(`/proc/${entry}/stat`, "latin1");
    // `pid (name) state parent group session …`, where the name may contain anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, parent, , session] = fields;
    if (state === "Z" || state === "X") return "ended";
    const environment = readFileSync(`/proc/${entry}/environ`, "latin1");
    const isMarked = environment.split("\0").includes(`${variable}=1`);
    // `env_start` and `env_end` are 0 while nothing is known of the new program, and the same where it was given nothing (proc_pid_stat(5)).
    const [flags, start, end] = [fields[6], fields[47], fields[48]];
    const isStarting = environment === "" && (end === "0" || end !== start) && (Number(flags) & KERNEL_THREAD) === 0;
    return { pid: Number(entry), parent: Number(parent), session: Number(session), isMarked, isStarting };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ESRCH" ? "ended" : undefined;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended, or is not ours any more: the next look tells.
  }
}
