import type { ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const GONE_LIMIT_MS = 10_000;

/** What bubblewrap tells of itself: JSON, an object a line. */
export class SandboxStatus {
  #text = "";
  #first = Promise.withResolvers<number>();

  /** @param descriptor which of its descriptors bubblewrap was told to write to */
  follow(child: ChildProcess, descriptor: number): void {
    const stream = child.stdio[descriptor];
    if (stream === null || stream === undefined || !("on" in stream)) return;
    stream.on("data", (chunk: Buffer) => {
      this.#text += chunk.toString("latin1");
      const first = this.#firstTold();
      if (first !== undefined) this.#first.resolve(first);
    });
    stream.on("error", () => stream.destroy());
  }

  /** The first process of the sandbox, by its number here. */
  get first(): Promise<number> {
    return this.#first.promise;
  }

  #firstTold(): number | undefined {
    const told = /"child-pid": (\d+)/.exec(this.#text)?.[1];
    return told === undefined ? undefined : Number(told);
  }

  /** The command itself was reached: before that, bubblewrap tells of no exit code. */
  get hasStarted(): boolean {
    return this.#text.includes('"exit-code"');
  }

  /** Resolves when the first process of the sandbox is gone: the kernel ends all others before it. @returns what is left */
  async gone(): Promise<readonly number[]> {
    const first = this.#firstTold();
    if (first === undefined) return [];
    for (let waited = 0, pause = 1; waited < GONE_LIMIT_MS; waited += pause, pause = Math.min(50, pause * 2)) {
      const stat = await readFile(`/proc/${first}/stat`, "latin1").catch(() => "");
      const state = stat.slice(stat.lastIndexOf(")") + 2)[0];
      if (state === undefined || state === "Z" || state === "X") return [];
      try {
        process.kill(first, "SIGKILL");
      } catch {
        return [];
      }
      await sleep(pause);
    }
    return [first];
  }
}
