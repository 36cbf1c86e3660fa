import type { Readable } from "node:stream";
import { UsageError } from "../options/usage-error.ts";

export interface StandardInputOptions {
  /** Give up when not a byte came within this time; without it, wait for the end. */
  readonly firstByteMs?: number;
  readonly maxBytes?: number;
}

const MAX_BYTES = 10 * 1024 * 1024;

/**
 * All of standard input as text; `undefined` when nothing came in time. A program that starts this one and never closes its
 * standard input must not make it hang.
 */
export async function readStandardInput(
  input: Readable,
  { firstByteMs, maxBytes = MAX_BYTES }: StandardInputOptions = {},
): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      input.off("data", onData).off("end", onEnd).off("error", onError);
      input.pause();
      act();
    };
    const timer = firstByteMs === undefined ? undefined : setTimeout(() => settle(() => resolve(undefined)), firstByteMs);
    const onData = (chunk: Buffer | string): void => {
      clearTimeout(timer);
      const buffer = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      bytes += buffer.length;
      if (bytes > maxBytes)
        return settle(() =>
          reject(new UsageError(`standard input is longer than ${maxBytes} bytes`, "Put it into a file and name the file in the task.")),
        );
      chunks.push(buffer);
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks).toString("utf8")));
    const onError = (error: Error): void => settle(() => reject(error));
    input.on("data", onData).on("end", onEnd).on("error", onError);
  });
}
