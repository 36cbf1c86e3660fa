import { spawn } from "node:child_process";
import type { HintedSearch } from "./searchable-files.ts";
import { compileSearchPattern } from "./search-pattern.ts";

export interface RipgrepSearch extends HintedSearch {
  readonly program: string;
  /** A real path. */
  readonly folder: string;
  /** Larger files are passed over. */
  readonly maxFileBytes: number;
}

// What its answer is read into; a search that finds more files than fit is done in plain code.
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * The files below a folder that may hold a match, by their real paths, as ripgrep finds them: at least those that do, as
 * far as they can be read. It is a hint, no result: a link may have been put in its way, and it reads other files as text.
 * `undefined` when ripgrep is not there or does not know the pattern.
 */
export async function ripgrepFiles(search: RipgrepSearch): Promise<string[] | undefined> {
  const { program, folder, signal } = search;
  signal?.throwIfAborted();
  // Nothing of this process's environment is its concern.
  const child = spawn(program, argumentsOf(search), { cwd: folder, env: {}, stdio: ["ignore", "pipe", "ignore"] });
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
  const code = await ended.promise;
  signal?.removeEventListener("abort", stop);
  signal?.throwIfAborted();
  // 0: found, 1: nothing found, 2: something could not be read or understood.
  if (code === undefined || (code === 2 && bytes === 0) || code > 2 || bytes > MAX_ANSWER_BYTES) return undefined;
  return Buffer.concat(chunks)
    .toString("utf8")
    .split("\0")
    .filter((path) => path !== "")
    .map((path) => `${folder === "/" ? "" : folder}/${path.replace(/^\.\//, "")}`);
}

function argumentsOf({ pattern, options, leftOut, maxFileBytes }: RipgrepSearch): string[] {
  return [
    "--no-config",
    "--no-messages",
    "--files-with-matches",
    "--null",
    "--hidden",
    // Whether it is text, and in which encoding, is decided by who reads the file.
    "--text",
    "--encoding=none",
    `--max-filesize=${maxFileBytes}`,
    ...(options.multiline ? ["--multiline"] : []),
    // Its own reading of .gitignore leaves out files that git does not.
    "--no-ignore",
    ...leftOut.map((name) => `--glob=!/${name.replace(/[\\*?[\]{}!]/g, "\\$&")}`),
    `--regexp=${compileSearchPattern(pattern, options).ripgrep}`,
    "--",
    "./",
  ];
}
