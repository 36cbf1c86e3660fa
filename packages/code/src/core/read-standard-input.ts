import type { Readable } from "node:stream";
import { UsageError } from "../options/usage-error.ts";

/** Calls back after so long. @returns takes it back */
export type AfterSilence = (ms: number, act: () => void) => () => void;

export interface StandardInputOptions {
  /** What to do when not a byte came for some seconds: go on without, or tell and wait for the end. */
  readonly silent: "give-up" | "wait";
  /** Told once, when nothing came for some seconds and the end is waited for; `begun` says whether something had come before. */
  onWaiting(begun: boolean): void;
  readonly maxBytes?: number;
  /** Default: the process's timers. */
  readonly after?: AfterSilence;
}

const MAX_BYTES = 10 * 1024 * 1024;
const SILENCE_MS = 3_000;

const byTimer: AfterSilence = (ms, act) => {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
};

/**
 * All of standard input as text; `undefined` when it gave up. A program that starts this one and never closes its standard input
 * must not leave anybody wondering what it does.
 */
export async function readStandardInput(
  input: Readable,
  { silent, onWaiting, maxBytes = MAX_BYTES, after = byTimer }: StandardInputOptions,
): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    let told = false;
    let takeBack = (): void => {};
    const settle = (act: () => void): void => {
      takeBack();
      input.off("data", onData).off("end", onEnd).off("error", onError);
      input.pause();
      act();
    };
    const onSilence = (): void => {
      if (silent === "give-up" && bytes === 0) return settle(() => resolve(undefined));
      told = true;
      onWaiting(bytes > 0);
    };
    const listen = (): void => {
      takeBack();
      if (!told) takeBack = after(SILENCE_MS, onSilence);
    };
    const onData = (chunk: Buffer | string): void => {
      const buffer = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      bytes += buffer.length;
      if (bytes > maxBytes)
        return settle(() =>
          reject(new UsageError(`standard input is longer than ${maxBytes} bytes`, "Put it into a file and name the file in the task.")),
        );
      chunks.push(buffer);
      listen();
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks).toString("utf8")));
    const onError = (error: Error): void => settle(() => reject(error));
    input.on("data", onData).on("end", onEnd).on("error", onError);
    listen();
  });
}
