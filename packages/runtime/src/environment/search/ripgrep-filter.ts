import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { realpath } from "node:fs/promises";
import { programPath } from "../sandbox/find-bubblewrap.ts";
import { isWithin } from "../files/virtual-path.ts";
import type { LineFilter } from "./line-filter.ts";

// A line of output has about 40 bytes.
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const LINE_END = Buffer.from("\n");
const ARGUMENTS = [
  "--no-config",
  "--no-messages",
  // The encoding of a text was decided by the caller.
  "--text",
  "--encoding=none",
  "--color=never",
  "--no-filename",
  "--no-line-number",
  "--byte-offset",
  // A longer line is replaced by a note.
  "--max-columns=1",
  "--no-max-columns-preview",
];

/**
 * Makes a filter of ripgrep, which gets the texts on its standard input and opens no file: links that are swapped during a search cannot lead it anywhere.
 *
 * A command could have replaced a program in a folder that commands can write to. On Linux such a program runs in bubblewrap, where it sees
 * nothing but itself, or not at all.
 * @param writable folders that commands may write to
 * @returns a reason if the program cannot be used
 */
export async function createRipgrepFilter(program: string, writable: readonly string[]): Promise<LineFilter | string> {
  const real = await realpath(program).catch(() => undefined);
  if (real === undefined) return `there is no program at ${program}`;
  if (process.platform !== "linux" || !writable.some((folder) => isWithin(folder, real)))
    return (pattern, texts, signal) => filterTexts({ program: real, args: [] }, pattern, texts, signal);
  const bubblewrap = await programPath("bwrap", writable);
  if (bubblewrap === undefined)
    return `${real} lies in a folder that the agent may write to, and there is no bubblewrap to run it in. Install bubblewrap, or install the packages elsewhere`;
  const args = ["--unshare-all", "--die-with-parent", "--ro-bind", real, "/ripgrep", "--", "/ripgrep"];
  return (pattern, texts, signal) => filterTexts({ program: bubblewrap, args }, pattern, texts, signal);
}

interface Command {
  readonly program: string;
  readonly args: readonly string[];
}

async function filterTexts(
  command: Command,
  pattern: string,
  texts: readonly Uint8Array[],
  signal?: AbortSignal,
): Promise<readonly boolean[] | undefined> {
  signal?.throwIfAborted();
  // A last line that always matches proves that all lines before it were searched.
  const last = `end-${randomBytes(12).toString("hex")}`;
  const parts: Uint8Array[] = [];
  const ends: number[] = [];
  let length = 0;
  for (const text of texts) {
    parts.push(text);
    length += text.byteLength;
    if (text.byteLength > 0 && text[text.byteLength - 1] !== 10) {
      parts.push(LINE_END);
      length++;
    }
    ends.push(length);
  }
  parts.push(Buffer.from(`${last}\n`));
  const answer = await run(command, [`--regexp=${pattern}`, `--regexp=^${last}`], Buffer.concat(parts), signal);
  if (answer === undefined) return undefined;
  const found = texts.map(() => false);
  let isWhole = false;
  let at = 0;
  for (const offset of offsetsOf(answer)) {
    while (at < ends.length && offset >= (ends[at] as number)) at++;
    if (at < ends.length) found[at] = true;
    else if (offset === length) isWhole = true;
  }
  return isWhole ? found : undefined;
}

/** The number at the beginning of each line. */
function* offsetsOf(answer: Buffer): Generator<number> {
  for (let start = 0; start < answer.byteLength;) {
    const colon = answer.indexOf(58, start);
    if (colon === -1) return;
    yield Number(answer.toString("latin1", start, colon));
    const end = answer.indexOf(10, colon);
    start = end === -1 ? answer.byteLength : end + 1;
  }
}

/** @returns `undefined` if the program failed */
async function run(
  { program, args }: Command,
  patterns: readonly string[],
  input: Buffer,
  signal?: AbortSignal,
): Promise<Buffer | undefined> {
  const child = spawn(program, [...args, ...ARGUMENTS, ...patterns, "--", "-"], {
    cwd: "/",
    env: {},
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = Promise.withResolvers<number | undefined>();
  child.once("error", () => ended.resolve(undefined)); // no such program
  child.once("close", (code) => ended.resolve(code ?? undefined));
  const stop = (): void => void child.kill("SIGKILL");
  signal?.addEventListener("abort", stop, { once: true });
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (bytes <= MAX_ANSWER_BYTES) chunks.push(chunk);
    else stop();
  });
  child.stdin.on("error", () => {}); // It ended before it had read everything, which its code says.
  child.stdin.end(input);
  const code = await ended.promise;
  signal?.removeEventListener("abort", stop);
  signal?.throwIfAborted();
  return code === 0 && bytes <= MAX_ANSWER_BYTES ? Buffer.concat(chunks) : undefined;
}
