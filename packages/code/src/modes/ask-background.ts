import type { InputStream } from "../core/command-host.ts";
import { type After, afterReading } from "../terminal/after-reading.ts";

export interface AskBackgroundOptions {
  readonly input: InputStream;
  /** Writes to the terminal. */
  write(text: string): unknown;
  /** Default: the process's timers. */
  readonly after?: After;
}

/** The time that a terminal has for its answer. It is spent by terminals that answer nothing at all. */
const ANSWER_TIMEOUT_MS = 500;

// Every terminal answers the second query, and answers in order: a terminal that does not know the first one costs no time.
const QUERIES = "\u001b]11;?\u001b\\\u001b[c";
// oxlint-disable-next-line no-control-regex -- the answers of terminals begin and end with control characters
const COLOR = /\u001b\]11;([^\u0007\u001b]*)(?:\u0007|\u001b\\)/;
// oxlint-disable-next-line no-control-regex -- the same
const ATTRIBUTES = /\u001b\[\?[\d;]*c/;

/**
 * Asks a terminal for the colour of its background. Text that a person types meanwhile goes back into the input.
 * @returns the answer, such as `rgb:1e1e/1e1e/1e1e`; `undefined` if there is none
 */
export async function askBackground({ input, write, after = afterReading }: AskBackgroundOptions): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // One character for each byte, so that a character whose bytes arrive apart stays whole.
  let received = "";
  const onData = (chunk: Buffer): void => {
    received += chunk.toString("latin1");
    if (ATTRIBUTES.test(received)) resolve();
  };
  input.setRawMode?.(true);
  input.on("data", onData);
  input.on("end", resolve);
  input.resume();
  write(QUERIES);
  const cancel = after(ANSWER_TIMEOUT_MS, resolve);
  await promise;
  cancel();
  input.off("data", onData);
  input.off("end", resolve);
  input.pause();
  input.setRawMode?.(false);
  const typed = received.replace(COLOR, "").replace(ATTRIBUTES, "");
  if (typed !== "" && !input.readableEnded) input.unshift(Buffer.from(typed, "latin1"));
  return COLOR.exec(received)?.[1];
}
