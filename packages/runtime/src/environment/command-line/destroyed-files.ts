import { isNowhere, namedPlacesOf, placesOf } from "./paths.ts";
import type { ProgramFacts } from "./program-facts.ts";
import type { Reading, Scope } from "./reading.ts";
import { literalWord, type ShellWord } from "./shell-word.ts";
import { literalPattern, starPattern } from "./star-patterns.ts";

const ANYTHING = "*";

/**
 * Notes the files that a command deletes or overwrites, if they are asked for.
 * @param own facts about the command alone: words before its program that are not understood
 * @param scope the place in which it works
 * @returns true if it deletes and overwrites no others
 */
export function noteDestroyed(facts: ProgramFacts, own: { readonly unlisted: readonly string[] }, scope: Scope, reading: Reading): boolean {
  const { destroys, readOnly, unknown, unknownProgram, caution } = facts;
  const { destroys: noted } = reading;
  if (noted === undefined) return false;
  const isAll = unknown === undefined && unknownProgram !== true && caution === undefined && own.unlisted.length === 0;
  if (readOnly === true) return isAll;
  if (destroys === undefined) return false;
  const { sparesIgnored, isAnything, follows, only } = destroys;
  const add = (pattern: string): void => void noted.set(pattern, sparesIgnored && noted.get(pattern) !== false);
  if (isAnything) add(ANYTHING);
  for (const word of destroys.files) for (const pattern of patternsOf(word, { follows }, scope, reading)) add(pattern);
  for (const word of destroys.trees)
    for (const folder of patternsOf(word, { follows }, scope, reading)) for (const pattern of treePatterns(folder, only)) add(pattern);
  // A command of git changes its repository, too.
  if (facts.repository !== undefined) for (const pattern of foldersOutside(scope, reading)) noted.set(pattern, false);
  return isAll;
}

/** Returns patterns of the files that a word names; with `follows` also of those to which links lead at its end. */
function patternsOf(word: ShellWord, { follows }: { readonly follows: boolean }, scope: Scope, reading: Reading): readonly string[] {
  const named = namedPlacesOf(word, scope, reading);
  const all = follows ? placesOf(word, scope, reading) : named;
  if (named === undefined || all === undefined) return [ANYTHING];
  const paths = [...new Set([...named, ...all].map(({ path }) => path))].filter((path) => !isNowhere(path));
  if (word.below !== undefined) return paths.flatMap((path) => treePatterns(starPattern(path).replace(/\/\*$/, ""), word.below?.only));
  return paths.map(word.globs && reading.surroundings === undefined ? starPattern : literalPattern);
}

/** Returns patterns of the files in a folder and below: all of them, or those with such names. */
function treePatterns(folder: string, only: readonly string[] | undefined): readonly string[] {
  if (folder === ANYTHING) return [ANYTHING];
  const start = folder.replace(/\/$/, "");
  return only === undefined ? [`${start}/*`] : only.map(starPattern).flatMap((name) => [`${start}/${name}`, `${start}/*/${name}`]);
}

/** Returns patterns of the folders outside of the workspace in which a command works. */
function foldersOutside(scope: Scope, reading: Reading): readonly string[] {
  const places = placesOf(literalWord("."), scope, reading) ?? [];
  return places.filter(({ inside }) => !inside).map(({ path }) => `${literalPattern(path)}/*`);
}
