import { readdir, readFile } from "node:fs/promises";

const INTERVAL_MS = 500;

/** The processes of a sandbox that hold memory, by their numbers here, with the bytes that they share with no file. */
export type MemorySample = ReadonlyMap<number, number>;

export interface MemoryWatch extends Disposable {
  /** True once a process was ended for its memory. */
  readonly hasEnded: boolean;
}

export interface MemoryWatchOptions {
  readonly limit: number;
  sample?(first: number): Promise<MemorySample>;
  kill?(pid: number): void;
  /** Calls it again and again until the result is called. */
  repeat?(work: () => void): () => void;
}

/**
 * Ends each process of a sandbox that holds more memory than the limit. For systems on which no control group can be made: a limit of the kernel for one
 * process counts what it reserves as well, so that programs with large reservations, such as sanitizers, would not start.
 * @param first the first process of the sandbox, whose descendants all others are
 */
export function watchMemory(
  first: Promise<number>,
  { limit, sample = sampleMemory, kill = (pid) => void process.kill(pid, "SIGKILL"), repeat = everyHalfSecond }: MemoryWatchOptions,
): MemoryWatch {
  let hasEnded = false;
  let isLooking = false;
  let stop: (() => void) | undefined;
  let isOver = false;
  const look = async (pid: number): Promise<void> => {
    if (isLooking || isOver) return;
    isLooking = true;
    try {
      for (const [holder, bytes] of await sample(pid)) {
        if (bytes <= limit || isOver) continue;
        hasEnded = true;
        kill(holder);
      }
    } catch {
      // The process ended meanwhile.
    } finally {
      isLooking = false;
    }
  };
  void first.then((pid) => {
    if (!isOver) stop = repeat(() => void look(pid));
  });
  return {
    get hasEnded() {
      return hasEnded;
    },
    [Symbol.dispose]() {
      isOver = true;
      stop?.();
    },
  };
}

function everyHalfSecond(work: () => void): () => void {
  const timer = setInterval(work, INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

/** Reads the memory of a process and of its descendants. */
export async function sampleMemory(first: number): Promise<MemorySample> {
  const found = new Map<number, number>();
  const visit = async (pid: number): Promise<void> => {
    const status = await readFile(`/proc/${pid}/status`, "latin1").catch(() => "");
    found.set(pid, Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024);
    const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
    const children = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, "latin1").catch(() => "")));
    for (const child of children.join(" ").split(" ").filter(Boolean)) if (!found.has(Number(child))) await visit(Number(child));
  };
  await visit(first);
  return found;
}
