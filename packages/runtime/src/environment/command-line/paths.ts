import { homedir } from "node:os";
import { isAbsolute, join, normalize, relative, resolve } from "node:path";
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

/** All places that the word may name. `undefined` where that can't be told from the text. */
export function placesOf(word: ShellWord, scope: Scope, { workspace }: Pick<Reading, "workspace">): readonly PlacedPath[] | undefined {
  if (!word.literal) return undefined;
  if (word.tilde) {
    const home = /^~(?=$|\/)/.exec(word.text);
    // `~user` and `~+` lead where only the shell knows.
    if (home === null) return undefined;
    return [placed(homedir() + word.text.slice(1), workspace)];
  }
  if (isAbsolute(word.text)) return [placed(normalize(word.text), workspace)];
  return scope.folders?.map((folder) => placed(workspace === undefined ? join(folder, word.text) : resolve(folder, word.text), workspace));
}

function placed(path: string, workspace: string | undefined): PlacedPath {
  const from = workspace === undefined ? path : relative(workspace, path);
  return { path, inside: !isAbsolute(from) && from !== ".." && !from.startsWith("../") };
}
