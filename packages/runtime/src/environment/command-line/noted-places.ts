import { nameMatcher } from "./name-matcher.ts";
import { placesOf } from "./paths.ts";
import type { ProgramFacts } from "./program-facts.ts";
import type { Reading, Scope } from "./reading.ts";
import { type ShellWord, literalWord } from "./shell-word.ts";
import { literalPattern, starPattern } from "./star-patterns.ts";

const ANYTHING = "*";
// The working directory, the root and open files of processes under another name.
const BEHIND_PROC = /^\/proc\/[^/]+\/(?:cwd|root|fd|task)(?:\/|$)/;

/** The files that a command touches. */
export interface Touched {
  /** True if it is known which these are, and that all of them are in the workspace. */
  readonly isInside: boolean;
  /** Words that name a file in the workspace, from where a link leads out of it. */
  readonly leadingOut: readonly string[];
}

/** Notes the files that a command touches. */
export function noteTouched(facts: ProgramFacts, scope: Scope, reading: Reading): Touched {
  const { reads = [], looks = [], writes = [], scripts = [] } = facts;
  const known = [
    ...reads.map((word) => placeInto(word, reading.reads, scope, reading)),
    ...looks.map((word) => placeInto(word, undefined, scope, reading)),
  ];
  for (const word of writes) placeInto(word, reading.writes, scope, reading);
  noteUnclear(facts, scope, reading);
  noteSecrets(facts, scope, reading);
  for (const word of [...reads, ...looks, ...writes, ...scripts])
    if (BEHIND_PROC.test(word.text) || placesOf(word, scope, reading)?.some(({ path }) => BEHIND_PROC.test(path)) === true)
      reading.mayTouch.add(ANYTHING);
  for (const word of [...reads, ...writes]) if (leadsThroughWritten(word, scope, reading)) reading.mayTouch.add(ANYTHING);
  for (const word of reads)
    if (pathsOf(word, scope, reading).some((path) => mayReachProcesses(path, word, facts))) reading.reads.add(ENVIRONMENTS);
  const leadingOut = [...reads, ...looks, ...writes].filter((word) => leadsOut(word, scope, reading)).map(({ text }) => text);
  return { isInside: known.every(Boolean) && leadingOut.length === 0, leadingOut };
}

/** True if `..` follows a name that this line writes: behind a link it is another folder. */
function leadsThroughWritten(word: ShellWord, scope: Scope, reading: Reading): boolean {
  const up = /^(.+?)\/\.\.(?:\/|$)/.exec(word.text)?.[1];
  if (up === undefined || !word.literal) return false;
  return placesOf({ ...word, text: up }, scope, reading)?.some(({ path }) => reading.writes.has(path)) === true;
}

function leadsOut(word: ShellWord, scope: Scope, reading: Reading): boolean {
  const [named, ...followed] = placesOf(word, scope, reading) ?? [];
  return named?.inside === true && followed.some(({ inside }) => !inside);
}

/** Notes the files with secrets that it comes upon when it goes through a folder: a person is asked about these. */
function noteSecrets({ reads = [], recurses, here, searches }: ProgramFacts, scope: Scope, reading: Reading): void {
  const { surroundings, findsSecrets } = reading;
  if (!findsSecrets || surroundings === undefined) return;
  const folders = [
    ...(recurses === true && searches !== undefined ? reads.map((word) => ({ word, ...searches })) : []),
    ...(here === "read" && searches !== undefined ? [{ word: literalWord("."), ...searches }] : []),
    ...reads.flatMap((word) =>
      word.below === undefined ? [] : [{ word: literalWord(word.below.folder), skipsHidden: false, ...word.below }],
    ),
  ];
  for (const { word, skipsHidden, only, follows } of folders) {
    const matchers = only?.map((pattern) => nameMatcher(pattern, true));
    const isRead = (name: string): boolean =>
      !(skipsHidden && name.startsWith(".")) && (matchers === undefined || matchers.some((isName) => isName(name)));
    for (const path of pathsOf(word, scope, reading)) {
      const found = path === ANYTHING ? [] : surroundings.secretsBelow(path, { isRead, follows });
      if (found === undefined) reading.unknown.add(`${path} has too many files to tell that none of those that are read holds secrets.`);
      for (const secret of found ?? []) reading.reads.add(secret);
    }
  }
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

/** Returns the pattern of a path. Text that the shell matches may be any text; a star in quotes is a star. */
function asPattern(path: string, { globs }: ShellWord): string {
  if (path === ANYTHING) return path;
  return globs ? starPattern(path) : literalPattern(path);
}
