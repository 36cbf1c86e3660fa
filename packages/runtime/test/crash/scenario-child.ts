import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { EventLog, LogId } from "@keelson/protocol";

/** One append that a process said had resolved. */
export interface Printed {
  readonly log: string;
  readonly seq: number;
  readonly key: string;
}

export interface ScenarioLife {
  readonly printed: readonly Printed[];
  /** How the run ended or why it waits, where the process lived to say so; with the kind of its error. */
  readonly reason: string | undefined;
  /** Exit code or signal. */
  readonly exit: number | string;
}

export interface LifeOptions {
  readonly scenario?: "job" | "deciding" | "plain";
  /** Where it kills itself. */
  readonly place?: string;
  /** Where it waits until {@link WaitingProcess.goOn}. */
  readonly waitAt?: string;
  /** After how many lines it is killed from outside. */
  readonly killAfter?: number;
  readonly withoutLedger?: boolean;
}

const program = join(import.meta.dirname, "scenario-process.ts");
const compileCache = join(tmpdir(), "keelson-crash-compile-cache");

interface StartedProcess {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  /** Resolves when it waits where it was told to, or is at its end. */
  readonly waiting: Promise<void>;
  readonly life: Promise<ScenarioLife>;
}

function start(folder: string, { scenario = "job", place, waitAt, killAfter, withoutLedger = false }: LifeOptions): StartedProcess {
  const options = [
    `--scenario=${scenario}`,
    ...(place === undefined ? [] : [`--kill-at=${place}`]),
    ...(waitAt === undefined ? [] : [`--wait-at=${waitAt}`]),
    ...(withoutLedger ? ["--without-ledger"] : []),
  ];
  const child = spawn(process.execPath, ["--conditions=source", program, folder, ...options], {
    stdio: ["pipe", "pipe", "inherit"],
    // Most of a start is compiling; one process that ends by itself leaves that to the others.
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  });
  const exited = once(child, "close") as Promise<[number | null, string | null]>;
  let markWaiting = (): void => {};
  const waiting = new Promise<void>((resolve) => {
    markWaiting = resolve;
  });
  const read = async (): Promise<ScenarioLife> => {
    const printed: Printed[] = [];
    let reason: string | undefined;
    for await (const line of createInterface({ input: child.stdout })) {
      const [log = "", seq = "", key = ""] = line.split(" ");
      if (log === "waiting") markWaiting();
      else if (log === "end") reason = seq;
      else printed.push({ log, seq: Number(seq), key });
      if (printed.length === killAfter) child.kill("SIGKILL");
    }
    markWaiting();
    const [code, signal] = await exited;
    return { printed, reason, exit: code ?? signal ?? "unknown" };
  };
  return { child, waiting, life: read() };
}

/**
 * Lets a process work in `folder` until it ends by itself, dies at `place`, or has printed so many lines and is killed. What
 * it prints on its way down counts as well.
 */
export function liveInProcess(folder: string, options: LifeOptions = {}): Promise<ScenarioLife> {
  const { child, life } = start(folder, options);
  child.stdin.end();
  return life;
}

/** A process that stands at a place, alive. */
export interface WaitingProcess {
  goOn(): void;
  kill(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void;
  readonly life: Promise<ScenarioLife>;
}

export async function waitInProcess(folder: string, waitAt: string, options: LifeOptions = {}): Promise<WaitingProcess> {
  const { child, waiting, life } = start(folder, { ...options, waitAt });
  await waiting;
  return { goOn: () => void child.stdin.end("go on\n"), kill: (signal) => void child.kill(signal), life };
}

/** Of what was printed, what the log does not hold. */
export async function lostRecords(log: EventLog, printed: readonly Printed[]): Promise<readonly Printed[]> {
  const keys = new Map<string, Map<number, string>>();
  for (const { log: id } of printed) {
    if (keys.has(id)) continue;
    const found = new Map<number, string>();
    for await (const { seq, key } of log.read(id as LogId)) found.set(seq, key);
    keys.set(id, found);
  }
  return printed.filter(({ log: id, seq, key }) => keys.get(id)?.get(seq) !== key);
}

/** Calls `work` with each item, a few at a time: processes wait for the disk more than they compute. */
export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>, most = 3): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: most }, worker));
}

export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "keelson-crash-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}
