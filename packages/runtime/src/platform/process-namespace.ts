import { readlink } from "node:fs/promises";

/** Names the process ids that this process sees: those of another namespace, a container's for one, say nothing here. "0" where there is one only. */
export async function processNamespace(): Promise<string> {
  if (process.platform !== "linux") return "0";
  return /\d+/.exec(await readlink("/proc/self/ns/pid"))?.[0] ?? "0";
}

/** Whether there is a process of this id, whoever's it is. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
