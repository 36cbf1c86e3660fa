import { lstat, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { FoundItem } from "../settings/found-item.ts";
import { cutInstructions, type InstructionFile, readInstructionFile } from "./instruction-file.ts";
import { type InstructionPlace, overrideOf, ownPlaces, placesIn } from "./instruction-places.ts";
import { onlyImportsAgents, readWithImports } from "./read-imports.ts";

export interface AgentsMdOptions {
  /** The working directory. */
  readonly cwd: string;
  /** `KEELSON_HOME`, for the instructions that its owner gives in every project. */
  readonly home?: string;
  /** The home folder of the person, for `~/.claude/CLAUDE.md`. Absent: that is not read. */
  readonly userHome?: string | undefined;
  /** Bytes of all files together; the farthest is cut first. Default 64 KiB. */
  readonly maxBytes?: number;
  /** True for files of the project that are read; the owner's own always is. Default: all. */
  readonly isTrusted?: (file: InstructionFile) => Promise<boolean>;
  /** Called for each file that is there: with the reason why it is not read, or how it is. */
  readonly onFound?: (item: FoundItem) => void;
}

const DEFAULT_MAX_BYTES = 64 * 1024;

/**
 * Returns the files of instructions of a working directory as one text: the user's own, then those from the root of the
 * repository down to the working directory, so that the nearest comes last. Empty if there are none.
 */
export async function readAgentsMd(options: AgentsMdOptions): Promise<string> {
  return renderInstructions(await findAgentsMd(options));
}

/** The files that `readAgentsMd` joins, the nearest last. */
export async function findAgentsMd({ cwd, home, userHome, ...options }: AgentsMdOptions): Promise<readonly InstructionFile[]> {
  const start = await realpath(cwd);
  const root = await repositoryRoot(start);
  const places = foldersBetween(root, start).flatMap((folder) => placesIn(folder, root));
  // The user's own file may be a link to wherever the user keeps it.
  return readPlaces([...ownPlaces({ home, userHome }), ...places], { userHome, ...options });
}

/**
 * The files below the working directory that hold for `path` in addition: those of the folders between the two, the
 * nearest last. For a tool call that touches `path`, which the text at the start of the conversation did not cover.
 */
export async function agentsMdFor(path: string, { cwd, ...options }: AgentsMdOptions): Promise<readonly InstructionFile[]> {
  const start = await realpath(cwd);
  const target = resolve(start, path);
  const folder = (await isFolder(target)) ? target : dirname(target);
  if (folder === start || !isBelow(start, folder)) return [];
  const root = await repositoryRoot(start);
  const places = foldersBetween(start, folder)
    .slice(1)
    .flatMap((place) => placesIn(place, root));
  return readPlaces(places, options);
}

/** Reads the file of instructions at a path of a project, with what it imports. */
export async function readInstructionsAt(path: string, within: string): Promise<InstructionFile | undefined> {
  const place = placesIn(dirname(path), within).find((known) => known.path === path) ?? { path, within, imports: true };
  return readPlace(place, { maxBytes: DEFAULT_MAX_BYTES });
}

/** One text of several files, each under its path. */
export function renderInstructions(files: readonly InstructionFile[]): string {
  return files
    .map(({ path, text, note }) =>
      [`Instructions of ${path}:`, text, ...(note === undefined ? [] : [`[${note}]`])].filter((part) => part !== "").join("\n\n"),
    )
    .join("\n\n");
}

/** Returns the file of each stretch of a prompt that ends with the text of {@link renderInstructions}. */
export function instructionStretches(prompt: string): readonly { readonly path: string; readonly from: number; readonly upTo: number }[] {
  const headings = [...prompt.matchAll(/^Instructions of (.*(?:AGENTS(?:\.override)?|CLAUDE(?:\.local)?)\.md):$/gm)].filter(
    ([, path = ""]) => isAbsolute(path),
  );
  return headings.map(({ 1: path = "", index }, at) => ({ path, from: index, upTo: headings[at + 1]?.index ?? prompt.length }));
}

/** The nearest may use the whole budget, the next what is left of it. */
async function readPlaces(
  places: readonly InstructionPlace[],
  { maxBytes = DEFAULT_MAX_BYTES, userHome, isTrusted, onFound = () => {} }: Omit<AgentsMdOptions, "cwd" | "home">,
): Promise<InstructionFile[]> {
  const found: InstructionFile[] = [];
  const taken = new Map<string, string>();
  let left = maxBytes;
  const leaveOut = (file: string, reason: string): void => onFound({ file, isUsed: false, reason });
  /** @param problem the reason why nothing is imported */
  const reportImports = ({ path, imports = [] }: InstructionFile, problem?: string): void => {
    for (const name of imports)
      onFound({
        file: path,
        entry: `@${name}`,
        isUsed: problem === undefined,
        reason: problem ?? "imported, as a part of the instructions",
      });
  };
  for (const place of places.toReversed()) {
    const { path, within } = place;
    const override = overrideOf(path);
    if (override !== undefined && (await readInstructionFile(override, 1, within)) !== undefined) {
      if ((await readInstructionFile(path, 1, within)) !== undefined) leaveOut(path, "AGENTS.override.md is read instead");
      continue;
    }
    const whole = await readPlace(place, { maxBytes: left, userHome });
    if (whole === undefined) continue;
    const { own = whole.text } = whole;
    const same = taken.get(own);
    if (whole.digest !== undefined && same !== undefined && whole.own === undefined) {
      leaveOut(path, `it says the same as ${same}, which is read`);
      continue;
    }
    if (place.imports && onlyImportsAgents(whole.text)) {
      leaveOut(path, "it only imports the AGENTS.md beside it, which is read by itself");
      continue;
    }
    // Of what could not be read nothing is shown but that.
    if (within !== undefined && whole.digest !== undefined && isTrusted !== undefined && !(await isTrusted(whole))) {
      leaveOut(path, "not trusted as it is: keelson trust accept");
      reportImports(whole, "not imported, because the file that names it is not trusted as it is");
      continue;
    }
    // The imports of a text that was read already are still to be read.
    const file = cutInstructions(same === undefined ? whole : { ...whole, text: whole.text.slice(own.length).trim() }, left);
    left -= Buffer.byteLength(file.text);
    taken.set(own, path);
    found.unshift(file);
    onFound({ file: path, isUsed: whole.digest !== undefined, reason: file.note ?? "instructions to the agent" });
    reportImports(whole);
  }
  return found;
}

/** A file with imports is read whole, because what it imports must not depend on the budget. */
async function readPlace(
  { path, within, imports }: InstructionPlace,
  { maxBytes, userHome }: { readonly maxBytes: number; readonly userHome?: string | undefined },
): Promise<InstructionFile | undefined> {
  return imports ? readWithImports(path, { within, userHome }) : readInstructionFile(path, maxBytes, within);
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
