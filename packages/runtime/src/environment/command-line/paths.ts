import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
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
  if (isAbsolute(word.text)) return [placed(withoutDots(word.text), workspace)];
  return scope.folders?.map((folder) =>
    placed(workspace === undefined ? join(folder, word.text) : withoutDots(`${folder}/${word.text}`), workspace),
  );
}

const GOES_UP = /[^./][^/]*\/+\.\.(?:\/|$)/;

/** The path without `.` and `..`. Behind a link `..` is the folder above its target: `/dev/fd/..` is a folder of `/proc`. */
function withoutDots(path: string): string {
  if (!GOES_UP.test(path)) return resolve(path);
  let at = "/";
  for (const name of path.split("/")) at = name === ".." ? folderAbove(at) : join(at, name);
  return at;
}

function folderAbove(path: string): string {
  try {
    const above = dirname(realpathSync(path));
    if (above !== realpathSync(dirname(path))) return above;
  } catch {
    // There is no link where nothing is.
  }
  return dirname(path);
}

function placed(path: string, workspace: string | undefined): PlacedPath {
  const from = workspace === undefined ? path : relative(workspace, path);
  return { path, inside: !isAbsolute(from) && from !== ".." && !from.startsWith("../") };
}
