import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { EnvironmentError } from "@keelson/protocol";
import { guardGroup } from "./guard.ts";
import { killStrays } from "./stray-processes.ts";

// A group that is about to die is looked at again and again, a little later each time.
const FIRST_LOOK_MS = 2;
const LAST_LOOK_MS = 50;
// How long the kernel may take to carry out SIGKILL; longer means a process stuck in a device.
const KILL_LIMIT_MS = 10_000;

/**
 * Ends every process of the group: SIGTERM, after `graceMs` SIGKILL. Resolves when none is left, at once when there was
 * none. A process that ended but that nobody has collected counts as gone.
 */
export async function endProcessGroup(group: number, graceMs: number): Promise<void> {
  if (!isAlive(group)) return;
  send(group, "SIGTERM");
  if (await goneWithin(group, graceMs)) return;
  send(group, "SIGKILL");
  if (await goneWithin(group, KILL_LIMIT_MS)) return;
  throw new EnvironmentError({
    kind: "other",
    message: `Processes of group ${group} outlived SIGKILL for ${KILL_LIMIT_MS} ms; they may hang in a device. Look at them with: ps -o pid,stat,args -g ${group}`,
  });
}

// Groups of running commands, with the marks of those that left them: they do not share our terminal, so nothing else would end them with us.
const live = new Map<number, string>();

/** From now until the returned function is called, the group, and whoever left it with this mark, is killed if this process ends, however it does. */
export function tieToThisProcess(group: number, mark: string): () => void {
  if (live.size === 0) process.on("exit", killLive);
  live.set(group, mark);
  const release = guardGroup(group, mark);
  return () => {
    release();
    live.delete(group);
    if (live.size === 0) process.off("exit", killLive);
  };
}

function killLive(): void {
  for (const [group, mark] of live) {
    send(group, "SIGKILL");
    killStrays(mark);
  }
}

async function goneWithin(group: number, limitMs: number): Promise<boolean> {
  let lookMs = FIRST_LOOK_MS;
  for (let waited = 0; waited < limitMs; lookMs = Math.min(LAST_LOOK_MS, lookMs * 2)) {
    const step = Math.min(lookMs, limitMs - waited);
    await sleep(step);
    waited += step;
    if (!isAlive(group)) return true;
  }
  return false;
}

function send(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    // EPERM: there is one, but it changed its user; it counts as alive.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function isAlive(group: number): boolean {
  if (!send(group, 0)) return false;
  // The kernel also counts zombies, and where process 1 collects nobody they stay for ever.
  return process.platform !== "linux" || hasRunningMember(group) !== false;
}

/** Returns `undefined` if the system does not say. Reads synchronously: on a busy machine each asynchronous read costs a turn of the scheduler. */
function hasRunningMember(group: number): boolean | undefined {
  let entries: readonly string[];
  try {
    entries = readdirSync("/proc");
  } catch {
    return undefined;
  }
  for (const entry of entries) {
    if (!/^\d+$/.test(entry)) continue;
    let stat: string;
    try {
      stat = readFileSync(`/proc/${entry}/stat`, "latin1");
    } catch {
      continue; // it ended meanwhile
    }
    // `pid (name) state parent group …`, where the name may contain anything.
    const [state, , memberOf] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (Number(memberOf) === group && state !== "Z" && state !== "X") return true;
  }
  return false;
}
