import { compileGlob, matchesGlob, type Glob } from "./glob.ts";

/** A path as rules see it, however it was written. */
export interface SeenPath {
  /** Relative to the working directory where it lies inside, else as it was given. What a person is shown. */
  readonly shown: string;
  /** It lies in the working directory. */
  readonly inside: boolean;
  readonly absolute?: string;
}

/** @param cwd absolute; without it only relative paths are known to lie inside */
export function seePath(path: string, cwd: string | undefined): SeenPath {
  const normal = normalizePath(path);
  // A file of such a name in the working directory is written with `./`.
  if (path.startsWith("~")) return { shown: normal, inside: false };
  const isAbsolute = normal.startsWith("/");
  if (cwd === undefined)
    return isAbsolute
      ? { shown: normal, inside: false, absolute: normal }
      : { shown: normal, inside: normal !== ".." && !normal.startsWith("../") };
  const root = normalizePath(cwd);
  const absolute = isAbsolute ? normal : normalizePath(`${root}/${normal}`);
  const below = relativeTo(root, absolute);
  return { shown: below ?? absolute, inside: below !== undefined, absolute };
}

/** Without `.`, `..` and empty segments where they can be resolved by reading. */
export function normalizePath(path: string): string {
  const absolute = path.startsWith("/");
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== ".." || (segments.at(-1) ?? "..") === "..") {
      if (segment !== ".." || !absolute) segments.push(segment);
    } else segments.pop();
  }
  return `${absolute ? "/" : ""}${segments.join("/")}` || ".";
}

function relativeTo(root: string, path: string): string | undefined {
  if (path === root) return ".";
  const prefix = root === "/" ? "/" : `${root}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : undefined;
}

/** More would say nothing that a shorter pattern doesn't. */
const MAX_OPTIONAL = 4;

/**
 * A glob over paths. A star stands for any characters, slashes too; beyond that, folders written as `**` may be none, so that a
 * pattern for `.env` in any folder finds the one at the root, and a folder's contents include the folder.
 */
export function compilePathPattern(pattern: string): readonly Glob[] {
  const plain = pattern.startsWith("./") ? pattern.slice(2) : pattern;
  let variants = [""];
  let optional = 0;
  for (const [index, piece] of plain.split("**/").entries()) {
    const atBorder = index > 0 && variants.every((variant) => variant === "" || variant.endsWith("/"));
    if (index === 0) variants = [piece];
    else if (atBorder && optional++ < MAX_OPTIONAL) variants = variants.flatMap((variant) => [`${variant}*/${piece}`, variant + piece]);
    else variants = variants.map((variant) => `${variant}*/${piece}`);
  }
  const withFolders = variants.flatMap((variant) =>
    variant.endsWith("/**") && variant.length > 3 ? [variant, variant.slice(0, -3)] : [variant],
  );
  return withFolders.map(compileGlob);
}

/** A pattern that begins with a slash is about absolute paths, any other about paths as they are shown: the folders above the workspace are none of its business. */
export function matchesPath(pattern: readonly Glob[], { shown, absolute }: SeenPath): boolean {
  return pattern.some((glob) => matchesGlob(glob, glob.literals[0].startsWith("/") ? (absolute ?? shown) : shown));
}
