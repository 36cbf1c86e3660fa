import { homedir } from "node:os";
import { isAbsolute, join, normalize, relative } from "node:path";
import type { Reading, Scope } from "./reading.ts";
import type { ShellWord } from "./shell-word.ts";

/** Where a path in a command line leads. */
export interface PlacedPath {
  /** Absolute, or relative to a workspace that isn't known. */
  readonly path: string;
  readonly inside: boolean;
}

// Reading or writing these is neither here nor there.
const NOWHERE = /^\/dev\/(?:null|zero|full|u?random|std(?:in|out|err)|fd\/\d+|tty)$/;

export function isNowhere(path: string): boolean {
  return NOWHERE.test(path);
}

/** Returns all places that the word may name, and those that links lead to from there. `undefined` if the text does not say. */
export function placesOf(
  word: ShellWord,
  scope: Scope,
  reading: Pick<Reading, "workspace" | "surroundings">,
): readonly PlacedPath[] | undefined {
  const { workspace, surroundings } = reading;
  if (!word.literal || surroundings?.isExhausted === true) return undefined;
  const paths = pathsOf(word, scope, workspace);
  if (paths === undefined || surroundings === undefined) return paths?.map((path) => placed(normalize(path), workspace));
  const found: string[] = [];
  for (const path of paths) {
    found.push(surroundings.withoutDots(path));
    const matches = word.below !== undefined ? [] : word.globs ? surroundings.matches(path) : [path];
    if (matches === undefined) return undefined;
    found.push(...matches.map((match) => surroundings.follow(match)));
  }
  return [...new Set(found)].map((path) => placed(path, workspace));
}

/** Returns the names of the files that the word may mean. A link is not followed at its end. `undefined` if the text does not say. */
export function namedPlacesOf(
  word: ShellWord,
  scope: Scope,
  reading: Pick<Reading, "workspace" | "surroundings">,
): readonly PlacedPath[] | undefined {
  const { workspace, surroundings } = reading;
  if (!word.literal || surroundings?.isExhausted === true) return undefined;
  const paths = pathsOf(word, scope, workspace);
  if (surroundings === undefined || paths === undefined) return paths?.map((path) => placed(normalize(path), workspace));
  const found: string[] = [];
  for (const path of paths) {
    const matches = word.globs && word.below === undefined ? surroundings.matches(path) : [path];
    if (matches === undefined) return undefined;
    found.push(...matches.map((match) => surroundings.withoutDots(match)));
  }
  return [...new Set(found)].map((path) => placed(path, workspace));
}

/** The paths as the system gets them: with `..` behind links, which normalizing would take out. */
function pathsOf({ text, tilde }: ShellWord, scope: Scope, workspace: string | undefined): readonly string[] | undefined {
  if (tilde) {
    const home = /^~(?=$|\/)/.exec(text);
    // `~user` and `~+` lead where only the shell knows.
    return home === null ? undefined : [homedir() + text.slice(1)];
  }
  if (isAbsolute(text)) return [text];
  return scope.folders?.map((folder) => (workspace === undefined ? join(folder, text) : `${folder}/${text}`));
}

function placed(path: string, workspace: string | undefined): PlacedPath {
  const trimmed = path.length > 1 ? path.replace(/\/+$/, "") : path;
  const from = workspace === undefined ? trimmed : relative(workspace, trimmed);
  return { path: trimmed, inside: !isAbsolute(from) && from !== ".." && !from.startsWith("../") };
}
