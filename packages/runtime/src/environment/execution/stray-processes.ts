import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const FIRST_LOOK_MS = 2;
const LAST_LOOK_MS = 50;
// How long the kernel may take to carry out SIGKILL.
const KILL_LIMIT_MS = 2_000;

/** Whether processes that left their group can be found here: Linux shows the environment that each began with. */
export function canFindStrays(): boolean {
  return process.platform === "linux" && existsSync("/proc/self/environ");
}

/**
 * Processes that a command started and that left its group (`setsid`, a daemon), known by a variable that they inherited: those that
 * have it, their descendants, and whoever shares their sessions. One that was started without the variable, and whose parent is
 * gone, is not among them.
 */
export function strayProcesses(variable: string): readonly number[] {
  if (!canFindStrays()) return [];
  const others = readdirSync("/proc").flatMap((entry) => {
    const found = /^\d+$/.test(entry) && Number(entry) !== process.pid ? look(entry, variable) : undefined;
    return found === undefined ? [] : [found];
  });
  const strays = new Set<number>();
  const sessions = new Set<number>();
  for (let before = -1; before !== strays.size;) {
    before = strays.size;
    for (const { pid, parent, session, isMarked } of others) {
      if (!isMarked && !strays.has(parent) && !sessions.has(session)) continue;
      strays.add(pid);
      sessions.add(session);
    }
  }
  return [...strays];
}

/** Ends them: SIGTERM, after `graceMs` SIGKILL. @returns those that are left all the same */
export async function endStrays(variable: string, graceMs: number): Promise<readonly number[]> {
  let left = strayProcesses(variable);
  for (const [signal, limitMs] of [
    ["SIGTERM", graceMs],
    ["SIGKILL", KILL_LIMIT_MS],
  ] as const) {
    let lookMs = FIRST_LOOK_MS;
    for (let waited = 0; left.length > 0 && waited < limitMs; lookMs = Math.min(LAST_LOOK_MS, lookMs * 2)) {
      // Who was started meanwhile is asked, too.
      for (const pid of left) send(pid, signal);
      await sleep(lookMs);
      waited += lookMs;
      left = strayProcesses(variable);
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
}

/** Nothing of one that ended, or that belongs to somebody else and can't be ended by us. */
function look(entry: string, variable: string): Seen | undefined {
  try {
    const stat = readFileSync(`/proc/${entry}/stat`, "latin1");
    // `pid (name) state parent group session …`, where the name may contain anything.
    const [state, parent, , session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return undefined;
    const isMarked = readFileSync(`/proc/${entry}/environ`, "latin1").split("\0").includes(`${variable}=1`);
    return { pid: Number(entry), parent: Number(parent), session: Number(session), isMarked };
  } catch {
    return undefined;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended, or is not ours any more: the next look tells.
  }
}
