import { type After, afterReading } from "../terminal/after-reading.ts";

/** The part of a process that can stop it. */
export interface SuspendedProcess {
  readonly platform: string;
  readonly pid: number;
  kill(pid: number, signal: "SIGTSTP"): unknown;
  once(signal: "SIGCONT", listener: () => void): unknown;
  off(signal: "SIGCONT", listener: () => void): unknown;
}

/** The time in which a process that is not stopped goes on: without a shell that could continue it, the system ignores the signal. */
const IGNORED_MS = 500;

/** Suspends this process as Ctrl-Z does in a shell. Resolves when it continues. */
export async function suspendProcess(own: SuspendedProcess = process, after: After = afterReading): Promise<void> {
  // Windows cannot suspend a process.
  if (own.platform === "win32") return;
  const { promise, resolve } = Promise.withResolvers<void>();
  own.once("SIGCONT", resolve);
  const cancel = after(IGNORED_MS, resolve);
  own.kill(own.pid, "SIGTSTP");
  await promise;
  cancel();
  own.off("SIGCONT", resolve);
}
