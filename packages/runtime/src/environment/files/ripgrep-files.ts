import { spawn } from "node:child_process";
import { programPath } from "../sandbox/find-bubblewrap.ts";
import type { HintedSearch } from "./searchable-files.ts";
import { compileSearchPattern } from "./search-pattern.ts";
import { joinPath, pathBelow } from "./virtual-path.ts";

export interface RipgrepSearch extends HintedSearch {
  readonly program: string;
  /** A real path. */
  readonly folder: string;
  /** The root that it lies in: nothing else is to be read. */
  readonly root: string;
  /** Larger files are passed over. */
  readonly maxFileBytes: number;
}

// What its answer is read into; a search that finds more files than fit is done in plain code.
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
// What it says at last, so that an answer is known to be whole. (Programs that could not be started end with 1, too.)
const WHOLE_ANSWER = /^\n\d+ match(?:es)?\n/;

/**
 * The files below a folder that may hold a match, by their real paths, as ripgrep finds them: at least those that do. It
 * is a hint, no result: it reads other files as text. `undefined` when it cannot tell, not all files, or not safely.
 *
 * ripgrep opens what it finds by path, so that a folder swapped for a link meanwhile leads it out of the root. On Linux
 * it therefore sees the root and nothing else (bubblewrap), or is not started.
 */
export async function ripgrepFiles(search: RipgrepSearch): Promise<string[] | undefined> {
  const { folder, signal } = search;
  signal?.throwIfAborted();
  const start = await commandOf(search);
  if (start === undefined) return undefined;
  // Nothing of this process's environment is its concern.
  const child = spawn(start.program, start.args, { cwd: start.cwd, env: {}, stdio: ["ignore", "pipe", "ignore"] });
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
  if ((code !== 0 && code !== 1) || bytes > MAX_ANSWER_BYTES) return undefined;
  const answer = Buffer.concat(chunks).toString("utf8").split("\0");
  if (!WHOLE_ANSWER.test(answer.pop() ?? "")) return undefined;
  return answer.map((path) => joinPath(folder, path.replace(/^\.\//, "")));
}

interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

async function commandOf(search: RipgrepSearch): Promise<Command | undefined> {
  const { program, folder, root } = search;
  const args = argumentsOf(search);
  if (process.platform !== "linux") return { program, args, cwd: folder };
  // A command could have written a bubblewrap into the workspace, to which PATH may lead.
  const [bubblewrap, ripgrep] = [await programPath("bwrap", [root]), await programPath(program)];
  if (bubblewrap === undefined || ripgrep === undefined) return undefined;
  const inside = ["--ro-bind", root, "/files", "--ro-bind", ripgrep, "/ripgrep", "--chdir", joinPath("/files", pathBelow(root, folder))];
  return { program: bubblewrap, args: ["--die-with-parent", "--unshare-net", ...inside, "--", "/ripgrep", ...args], cwd: "/" };
}

function argumentsOf({ pattern, options, leftOut, maxFileBytes }: RipgrepSearch): string[] {
  return [
    "--no-config",
    "--no-messages",
    "--files-with-matches",
    "--null",
    "--stats",
    "--hidden",
    // Whether it is text, and in which encoding, is decided by who reads the file.
    "--text",
    "--encoding=none",
    `--max-filesize=${maxFileBytes}`,
    ...(options.multiline ? ["--multiline"] : []),
    // Its own reading of .gitignore leaves out files that git does not.
    "--no-ignore",
    ...leftOut.map((name) => `--glob=!/${literal(name)}`),
    ...(options.leaveOut ?? []).map((name) => `--glob=!**/${literal(name)}/`),
    `--regexp=${compileSearchPattern(pattern, options).ripgrep}`,
    "--",
    "./",
  ];
}

/** A name as a glob that matches nothing else. */
function literal(name: string): string {
  return name.replace(/[\\*?[\]{}!]/g, "\\$&");
}
