import { emitKeypressEvents } from "node:readline";
import { PassThrough } from "node:stream";
import type { InputStream } from "../core/command-host.ts";

/** The keys of a terminal, which belong to the input unless they are lent. */
export interface LentKeys {
  /** The stream that the input reads in place of the terminal: everything that is typed while the keys are not lent. */
  readonly input: InputStream;
  /**
   * Lends the keys to what is shown in place of the input.
   * @param handle called with each key as the terminal sent it
   * @returns gives them back
   */
  lend(handle: (sequence: string) => void): () => void;
  /** Stops reading, so that another program can read from the terminal. @returns goes on reading */
  pause(): () => void;
  close(): void;
}

interface Keypress {
  readonly sequence?: string;
}

/** Reads a terminal, and passes what is typed to the input, or to the borrower of the keys. */
export function createLentKeys(terminal: InputStream): LentKeys {
  const input = Object.assign(new PassThrough(), {
    isTTY: terminal.isTTY === true,
    setRawMode: (on: boolean) => terminal.setRawMode?.(on),
  });
  // Node's reader distinguishes the key Esc from the first byte of a sequence by the time.
  const keys = new PassThrough();
  emitKeypressEvents(keys);
  let handle: ((sequence: string) => void) | undefined;

  const onData = (chunk: Buffer): void => void (handle === undefined ? input : keys).write(chunk);
  const onEnd = (): void => void input.end();
  const onKey = (text: string | undefined, key: Keypress | undefined): void => handle?.(key?.sequence ?? text ?? "");
  terminal.on("data", onData);
  terminal.on("end", onEnd);
  keys.on("keypress", onKey);
  // An earlier list may have paused it.
  terminal.resume();

  return {
    input: input as InputStream,
    lend(given) {
      handle = given;
      return () => {
        if (handle === given) handle = undefined;
      };
    },
    pause() {
      terminal.off("data", onData);
      terminal.pause();
      return () => {
        terminal.on("data", onData);
        terminal.resume();
      };
    },
    close() {
      terminal.off("data", onData);
      terminal.off("end", onEnd);
      terminal.pause();
    },
  };
}
