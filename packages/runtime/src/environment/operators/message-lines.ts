import type { Duplex } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { FromOperator, ToOperator } from "./operator-messages.ts";

/** Characters of a message; whoever is in a sandbox must not fill the memory of who is not. */
const MAX_MESSAGE = 64 * 1024 * 1024;

export interface LineListener {
  onMessage(message: { readonly type: string }): void;
  /** Of a line that is no message, with its end. */
  onOther?(line: string): void;
}

/** Messages as lines of JSON over a stream. @returns sends one */
export function messageLines(stream: Duplex, listener: LineListener): (message: FromOperator | ToOperator) => void {
  const take = createLineReader(listener);
  stream.on("data", (bytes: Buffer) => {
    try {
      take(bytes);
    } catch (error) {
      stream.destroy(error as Error);
    }
  });
  // Whoever listens for the end of the process hears of it.
  stream.on("error", () => stream.destroy());
  return (message) => {
    if (stream.writable) stream.write(`${JSON.stringify(message)}\n`);
  };
}

/** Takes pieces of lines. @throws RangeError for a line that is too long */
export function createLineReader({ onMessage, onOther }: LineListener): (bytes: Buffer) => void {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  return (bytes) => {
    const lines = `${rest}${decoder.write(bytes)}`.split("\n");
    rest = lines.pop() as string;
    if (rest.length > MAX_MESSAGE) {
      rest = "";
      throw new RangeError(`A message of an operator was longer than ${MAX_MESSAGE} characters.`);
    }
    for (const line of lines) {
      const message = messageIn(line);
      if (message === undefined) onOther?.(`${line}\n`);
      else onMessage(message);
    }
  };
}

function messageIn(line: string): { readonly type: string } | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"
      ? { ...value, type: value.type }
      : undefined;
  } catch {
    return undefined;
  }
}
