import type { ToolOutput } from "@keelson/protocol";
import type { BashOptions } from "./bash-input.ts";
import type { CommandEnding } from "./command-ending.ts";
import { createLongOutput, type LongOutput } from "./long-output.ts";
import { createTerminalText, type TerminalText } from "./terminal-text.ts";

const HEAD_BYTES = 32 * 1024;
const TAIL_BYTES = 12 * 1024;
/** Both streams, with what is said beside them. */
export const MAX_SHOWN_BYTES: number = 2 * (HEAD_BYTES + TAIL_BYTES) + 4096;

/** The two streams of a command as they come. */
export type CommandOutput = { readonly [Stream in "stdout" | "stderr"]: Readable };

/** Gathers what a command prints. @param blobs keeps long output whole */
export function createCommandOutput(blobs: BashOptions["blobs"]): CommandOutput {
  return { stdout: createReadable(blobs), stderr: createReadable(blobs) };
}

export interface Readable {
  readonly text: LongOutput;
  /** The readable form of what settled. */
  push(piece: string): string;
  finish(whole: string): void;
}

/** Cleans first and bounds afterwards, so that a progress bar does not push out what matters. */
function createReadable(blobs: BashOptions["blobs"]): Readable {
  const text = createLongOutput({ headBytes: HEAD_BYTES, tailBytes: TAIL_BYTES, blobs });
  const terminal: TerminalText = createTerminalText();
  let streamed = false;
  const keep = (settled: string): string => {
    if (settled !== "") text.push(settled);
    return settled;
  };
  return {
    text,
    push(piece) {
      streamed = true;
      return keep(terminal.push(piece));
    },
    finish(whole) {
      if (!streamed) keep(terminal.push(whole));
      keep(terminal.end());
    },
  };
}

/** Returns the result of a command: its output, its errors, how it ended, and notes, a line each. */
export async function presentCommand(
  { words, isError, left = [] }: CommandEnding,
  { stdout: out, stderr: err }: CommandOutput,
  notes: readonly string[],
): Promise<ToolOutput> {
  const [stdout, stderr] = [out.text, err.text];
  const parts = [stdout.shown().trimEnd()];
  const errors = stderr.shown().trimEnd();
  if (errors !== "") parts.push(`STDERR:\n${errors}`);
  parts.push(`[${words}]`);
  for (const [name, output] of Object.entries({ stdout, stderr })) {
    const rest = await output.keepRest();
    if (rest !== undefined) parts.push(`[${name}: ${rest}]`);
  }
  if (left.length > 0) parts.push(`[still running, as they could not be ended: ${left.map((pid) => `process ${pid}`).join(", ")}]`);
  parts.push(...notes);
  const result = parts.filter((part) => part !== "").join("\n");
  return !isError ? result : { type: "content", content: [{ type: "text", text: result }], isError: true };
}
