import { lstat, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { type InstructionFile, readInstructionFile } from "./instruction-file.ts";

export interface AgentsMdOptions {
  /** The working directory. */
  readonly cwd: string;
  /** `KEELSON_HOME`, for the instructions that its owner gives in every project. */
  readonly home?: string;
  /** Bytes of all files together; the farthest is cut first. Default 64 KiB. */
  readonly maxBytes?: number;
  /** Which files of the project are read; the owner's own always is. Default: all. */
  readonly isTrusted?: (file: InstructionFile) => Promise<boolean>;
}

const FILE_NAME = "AGENTS.md";
const DEFAULT_MAX_BYTES = 64 * 1024;

/**
 * What `AGENTS.md` files say in a working directory, as one text: the user's own, then those from the root of the
 * repository down to the working directory, so that the nearest comes last. Empty when there are none.
 */
export async function readAgentsMd(options: AgentsMdOptions): Promise<string> {
  return renderInstructions(await findAgentsMd(options));
}

/** The files that `readAgentsMd` joins, the nearest last. */
export async function findAgentsMd({ cwd, home, maxBytes, isTrusted }: AgentsMdOptions): Promise<readonly InstructionFile[]> {
  const start = await realpath(cwd);
  const root = await repositoryRoot(start);
  const places = foldersBetween(root, start).map((folder) => ({ path: join(folder, FILE_NAME), within: root }));
  // The user's own file may be a link to wherever the user keeps it.
  return readPlaces(home === undefined ? places : [{ path: join(home, FILE_NAME) }, ...places], { maxBytes, isTrusted });
}

/**
 * The files below the working directory that hold for `path` in addition: those of the folders between the two, the
 * nearest last. For a tool call that touches `path`, which the text at the start of the conversation did not cover.
 */
export async function agentsMdFor(path: string, { cwd, maxBytes, isTrusted }: AgentsMdOptions): Promise<readonly InstructionFile[]> {
  const start = await realpath(cwd);
  const target = resolve(start, path);
  const folder = (await isFolder(target)) ? target : dirname(target);
  if (folder === start || !isBelow(start, folder)) return [];
  return readPlaces(
    foldersBetween(start, folder)
      .slice(1)
      .map((place) => ({ path: join(place, FILE_NAME), within: start })),
    { maxBytes, isTrusted },
  );
}

/** One text of several files, each under its path. */
export function renderInstructions(files: readonly InstructionFile[]): string {
  return files
    .map(({ path, text, note }) =>
      [`Instructions of ${path}:`, text, ...(note === undefined ? [] : [`[${note}]`])].filter((part) => part !== "").join("\n\n"),
    )
    .join("\n\n");
}

/** Which stretches of a prompt that ends with what {@link renderInstructions} gave are which file. */
export function instructionStretches(prompt: string): readonly { readonly path: string; readonly from: number; readonly upTo: number }[] {
  const headings = [...prompt.matchAll(/^Instructions of (.*AGENTS\.md):$/gm)].filter(([, path = ""]) => isAbsolute(path));
  return headings.map(({ 1: path = "", index }, at) => ({ path, from: index, upTo: headings[at + 1]?.index ?? prompt.length }));
}

/** The nearest may use the whole budget, the next what is left of it. */
async function readPlaces(
  places: readonly { readonly path: string; readonly within?: string }[],
  { maxBytes = DEFAULT_MAX_BYTES, isTrusted }: { readonly maxBytes: number | undefined; readonly isTrusted: AgentsMdOptions["isTrusted"] },
): Promise<InstructionFile[]> {
  const found: InstructionFile[] = [];
  let left = maxBytes;
  for (const { path, within } of places.toReversed()) {
    const file = await readInstructionFile(path, left, within);
    if (file === undefined) continue;
    // Of what could not be read nothing is shown but that.
    if (within !== undefined && file.digest !== undefined && isTrusted !== undefined && !(await isTrusted(file))) continue;
    left -= Buffer.byteLength(file.text);
    found.unshift(file);
  }
  return found;
}

/** The nearest folder upward with a `.git` (a file in worktrees and submodules), else the folder itself: what lies above is not the project's. */
export async function repositoryRoot(start: string): Promise<string> {
  for (let folder = start; ; folder = dirname(folder)) {
    if (
      await lstat(join(folder, ".git")).then(
        () => true,
        () => false,
      )
    )
      return folder;
    if (dirname(folder) === folder) return start;
  }
}

/** From `top` down to `bottom`, both included. */
function foldersBetween(top: string, bottom: string): string[] {
  const names = relative(top, bottom)
    .split(sep)
    .filter((name) => name !== "");
  return [top, ...names.map((_name, index) => join(top, ...names.slice(0, index + 1)))];
}

function isBelow(top: string, path: string): boolean {
  const way = relative(top, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`);
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
