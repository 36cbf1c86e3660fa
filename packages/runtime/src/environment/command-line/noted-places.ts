import { placesOf } from "./paths.ts";
import type { ProgramFacts } from "./program-facts.ts";
import type { Reading, Scope } from "./reading.ts";
import { type ShellWord, literalWord } from "./shell-word.ts";

const ANYTHING = "*";
// The working directory, the root and open files of processes under another name.
const BEHIND_PROC = /^\/proc\/[^/]+\/(?:cwd|root|fd|task)(?:\/|$)/;

/** Notes the files that a command touches. True if it is known which these are, and that all of them are in the workspace. */
export function noteTouched(facts: ProgramFacts, scope: Scope, reading: Reading): boolean {
  const { reads = [], looks = [], writes = [], scripts = [] } = facts;
  const known = [
    ...reads.map((word) => placeInto(word, reading.reads, scope, reading)),
    ...looks.map((word) => placeInto(word, undefined, scope, reading)),
  ];
  for (const word of writes) placeInto(word, reading.writes, scope, reading);
  noteUnclear(facts, scope, reading);
  for (const word of [...reads, ...looks, ...writes, ...scripts])
    if (placesOf(word, scope, reading)?.some(({ path }) => BEHIND_PROC.test(path)) === true) reading.mayTouch.add(ANYTHING);
  for (const word of reads)
    if (pathsOf(word, scope, reading).some((path) => mayReachProcesses(path, word, facts))) reading.reads.add(ENVIRONMENTS);
  return known.every(Boolean);
}

/** The variables of all processes, which hold the keys of this one. */
const ENVIRONMENTS = "/proc/*/environ";

/** True if a pattern or a folder may stand for the files of processes. */
function mayReachProcesses(path: string, { globs }: ShellWord, { recurses }: ProgramFacts): boolean {
  if (!globs && recurses !== true) return false;
  return path === "/" || /^\/(?:proc(?:\/|$)|[^/]*[*?[{@+!])/.test(path);
}

/** Notes patterns for the files that its words do not name: those that the shell matches, those in the folders that it goes through. */
function noteUnclear(facts: ProgramFacts, scope: Scope, reading: Reading): void {
  const { reads = [], writes = [], recurses, here } = facts;
  const add = (pattern: string): void => void reading.mayTouch.add(pattern);
  if ((facts.unlisted ?? []).length > 0 || facts.unknownProgram === true) add(ANYTHING);
  for (const word of [...reads, ...writes])
    for (const path of pathsOf(word, scope, reading)) {
      if (path === ANYTHING) add(path);
      if (word.globs || !word.literal) add(asPattern(path, word));
      if (recurses === true) add(`${asPattern(path, word).replace(/\/$/, "")}/*`);
    }
  if (here === undefined || here === "look") return;
  for (const path of pathsOf(literalWord("."), scope, reading)) {
    add(path === ANYTHING ? path : `${path}/*`);
    if (here === "write") reading.writes.add(path === ANYTHING ? "." : path);
  }
}

/** Notes the places of a word. True if they are known and within the workspace; a pattern may not reach for names that begin with a dot. */
export function placeInto(word: ShellWord, into: Set<string> | undefined, scope: Scope, reading: Reading): boolean {
  const places = placesOf(word, scope, reading);
  if (places === undefined) return false;
  for (const { path } of places) into?.add(path);
  const reachesHidden = word.globs && /(?:^|\/)(?:\.[^/]*[*?[{]|[[{?@+!])/.test(word.text);
  return places.length > 0 && places.every(({ inside, path }) => inside || path === "/dev/null") && !reachesHidden;
}

function pathsOf(word: ShellWord, scope: Scope, reading: Reading): readonly string[] {
  return placesOf(word, scope, reading)?.map(({ path }) => path) ?? [ANYTHING];
}

/** What the shell matches may be any text; a star in quotes is a star. */
function asPattern(path: string, { globs }: ShellWord): string {
  if (path === ANYTHING) return path;
  if (!globs) return path.replace(/[*\\]/g, "\\$&");
  return path.replace(/\[[^\]]*\]|[?*]+|[@+!?*]\([^)]*\)|\{[^}]*\}/g, "*");
}
