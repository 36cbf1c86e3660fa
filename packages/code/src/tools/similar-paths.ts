import { basename, dirname } from "node:path/posix";
import { type Vfs, VfsError } from "@keelson/protocol";
import { shownName } from "./shown-name.ts";
import { shownPath } from "./call-files.ts";

const MAX_SUGGESTIONS = 5;
// A suggestion must not cost more than the search it saves.
const MAX_VISITED = 5000;
const LEVELS: readonly string[] = Array.from({ length: 7 }, (_, level) => `${"*/".repeat(level)}*`);

/** Files and folders that somebody who asked for `path` may have meant, the likeliest first, as shown paths. */
export async function similarPaths(files: Vfs, path: string, signal?: AbortSignal): Promise<readonly string[]> {
  const wanted = shownPath(files, path);
  const name = basename(wanted).toLowerCase();
  const candidates: { readonly path: string; readonly score: number }[] = [];
  for (const { path: real } of await listNear(files, signal)) {
    const found = shownPath(files, real);
    const score = likeness(name, basename(found).toLowerCase());
    if (score > 0) candidates.push({ path: found, score: score + sharedFolders(wanted, found) / 100 });
  }
  return candidates
    .sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
    .slice(0, MAX_SUGGESTIONS)
    .map((candidate) => candidate.path);
}

async function listNear(files: Vfs, signal?: AbortSignal): ReturnType<Vfs["glob"]> {
  try {
    const path = files.root ?? "/";
    return await files.glob(`{${LEVELS.join(",")}}`, { path, gitignore: true, leaveOut: ["node_modules"], limit: MAX_VISITED, signal });
  } catch (error) {
    if (VfsError.is(error)) return []; // it cannot be searched
    throw error;
  }
}

/** The sentence for an error; empty when nothing is similar. */
export async function didYouMean(files: Vfs, path: string, signal?: AbortSignal): Promise<string> {
  const found = await similarPaths(files, path, signal);
  return found.length === 0 ? " Find files with glob or list_directory." : ` Did you mean ${found.map(shownName).join(", ")}?`;
}

/** 1 for the same name, less for one that differs in a few letters or contains the other, 0 for anything else. */
function likeness(wanted: string, found: string): number {
  if (wanted === found) return 1;
  const [stem, foundStem] = [withoutExtension(wanted), withoutExtension(found)];
  if (stem === foundStem) return 0.9;
  // By the stems: endings are alike everywhere.
  const distance = editDistance(stem, foundStem, Math.floor(stem.length / 3));
  if (distance !== undefined) return 0.8 - distance / (stem.length + 1);
  return stem.length > 3 && foundStem.length > 3 && (foundStem.includes(stem) || stem.includes(foundStem)) ? 0.3 : 0;
}

function withoutExtension(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(0, dot) : name;
}

/** Insertions, deletions and replacements from one to the other; `undefined` when they are more than `limit`. */
function editDistance(a: string, b: string, limit: number): number | undefined {
  if (Math.abs(a.length - b.length) > limit) return undefined;
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] as number) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] as number) + 1, (current[column - 1] as number) + 1));
    }
    previous = current;
  }
  const distance = previous[b.length] as number;
  return distance <= limit ? distance : undefined;
}

function sharedFolders(a: string, b: string): number {
  const [first, second] = [dirname(a).split("/"), dirname(b).split("/")];
  let shared = 0;
  while (shared < Math.min(first.length, second.length) && first[shared] === second[shared]) shared++;
  return shared;
}
