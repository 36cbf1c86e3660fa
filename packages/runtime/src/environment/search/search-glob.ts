import { VfsError } from "@keelson/protocol";
import { compileGlob, type GlobPattern } from "../files/glob-pattern.ts";
import { unsupported } from "../files/vfs-failures.ts";

/** The glob of a search, over paths relative to where it starts. */
export interface SearchGlob {
  matches(path: string, isDir: boolean): boolean;
  /** False when nothing below this folder can match. `""` is the start. */
  mayMatchBelow(folder: string): boolean;
  /** True if the pattern names this path, letter by letter from the start. */
  isNamed(path: string): boolean;
  /** The error to throw if nothing matches: the pattern was refused, and was searched for as a text. */
  readonly refusal?: VfsError;
}

/**
 * Compiles a glob in the language that ripgrep and git share: `*`, `?`, `[a-z]`, `[!a-z]` within a name, `**` as a
 * whole name for any number of folders, `\` before a character that stands for itself, a slash at the end for folders
 * only; and `{a,b}`, which git lacks. What one of them reads otherwise is refused as `unsupported`, with the reason. Two
 * things are not alike: `?` and `[!a]` stand for one character here and for one byte there, so that only we find `é` by `?`;
 * and to ripgrep, unlike to git and us, `[!a]` and a range around it may stand for a slash.
 *
 * Names of files may hold brackets and braces, as in `app/[slug]/page.tsx`. Each name of a pattern that holds some is also read as a text, with the
 * stars in it: it then matches what is really named like this. A pattern that is refused otherwise is read as such a text alone.
 */
export function compileSearchGlob(pattern: string): SearchGlob {
  return compileReadings(pattern, "");
}

/** @param above what is put before each reading of the pattern */
function compileReadings(pattern: string, above: "" | "**/"): SearchGlob {
  requirePath(pattern);
  const refused = reasonToRefuse(pattern);
  const refusal = refused === undefined ? undefined : refuse(pattern, refused);
  const readings = [
    ...(refused === undefined ? [pattern] : []),
    ...readingsAsText(pattern).filter((text) => reasonToRefuse(text) === undefined),
  ];
  if (refusal !== undefined && readings.length === 0) throw refusal;
  try {
    const globs = readings.map((reading): GlobPattern => compileGlob(above + reading));
    const [only] = globs;
    const foldersOnly = pattern.endsWith("/");
    const matches = only !== undefined && globs.length === 1 ? only.matches : (path: string) => globs.some((glob) => glob.matches(path));
    const named = above === "" ? readings.map(namedPart) : [];
    return {
      matches: (path, isDir) => (isDir || !foldersOnly) && matches(path),
      mayMatchBelow: (folder) => globs.some((glob) => glob.mayMatchBelow(folder)),
      isNamed: (path) => named.some((name) => name === path || name.startsWith(`${path}/`)),
      ...(refusal && { refusal }),
    };
  } catch (error) {
    throw new VfsError({ kind: "other", message: (error as Error).message }, { cause: error });
  }
}

/** Compiles the glob of a `grep`: one without a slash is about names, wherever they are. */
export function compileFileFilter(pattern: string): SearchGlob {
  // A slash at the beginning says only that it begins where the search does.
  const relative = pattern.replace(/^\//, "");
  return compileReadings(relative, pattern.includes("/") ? "" : "**/");
}

// More names with brackets than any path has, few enough to try each.
const MAX_TEXT_NAMES = 4;

/** Returns the pattern with its brackets and braces read as text, in one name of it, in several or in all. */
function readingsAsText(pattern: string): string[] {
  if (!/[[\]{}\\!]/.test(pattern)) return [];
  const names = pattern.split("/");
  const held = names.flatMap((name, index) => (asText(name) === name ? [] : [index]));
  // A brace that spans names cannot be read name by name.
  if (held.length > MAX_TEXT_NAMES || /\{[^}]*\//.test(pattern)) return [names.map(asText).join("/")];
  return Array.from({ length: 2 ** held.length - 1 }, (_, choice) =>
    names.map((name, index) => (held.includes(index) && ((choice + 1) >> held.indexOf(index)) % 2 === 1 ? asText(name) : name)).join("/"),
  );
}

function asText(name: string): string {
  return name.replace(/[[\]{}\\]|^!/g, "\\$&");
}

/** Returns the part of a pattern before its first name with a wildcard, as it is named on the disk. */
function namedPart(pattern: string): string {
  const names: string[] = [];
  for (const name of pattern.replace(/^\.\//, "").replace(/\/$/, "").split("/")) {
    if (/[*?[{]/.test(name.replace(/\\./g, ""))) break;
    names.push(name.replace(/\\(.)/g, "$1"));
  }
  return names.join("/");
}

/** Refuses a pattern that is no path below the start, however it is read. */
function requirePath(pattern: string): void {
  const reason =
    pattern === ""
      ? "it is empty. ** finds everything."
      : pattern.startsWith("/")
        ? "it is absolute. Give the folder as path, and a pattern relative to it."
        : hasEmptyName(pattern)
          ? "a name in it is empty, a dot or two. Write the path without."
          : undefined;
  if (reason !== undefined) throw refuse(pattern, reason);
}

function refuse(pattern: string, reason: string): VfsError {
  return unsupported("glob", `The glob ${pattern} is not searched for: ${reason}`);
}

function hasEmptyName(pattern: string): boolean {
  const names = pattern.replace(/^\.\//, "").replace(/\/$/, "").split("/");
  return names.includes("..") || names.includes(".") || names.includes("");
}

function reasonToRefuse(pattern: string): string | undefined {
  if (pattern.startsWith("!")) return "it begins with !, which excludes in some tools. Write [!] or \\! for the character.";
  return reasonInNames(pattern) ?? reasonInCharacters(pattern);
}

function reasonInNames(pattern: string): string | undefined {
  if (/(?<!\\)\*\*/.test(pattern.replace(/(?<=^|\/)\*\*(?=\/|$)/g, "")))
    return "** stands for folders only as a whole name, as in **/*.ts. Use one star within a name.";
  return undefined;
}

function reasonInCharacters(pattern: string): string | undefined {
  if (/(?<!\\)[{,](?=[,}])/.test(pattern) && pattern.includes("{"))
    return "an alternative in its braces is empty, which some tools pass over. Write two patterns.";
  const commas: number[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === "\\") {
      if (++at === pattern.length) return "it ends with a backslash, which would escape what follows.";
      if (pattern[at] === "/") return "it escapes a slash, which is never part of a name.";
    } else if (character === "[") {
      const end = endOfClass(pattern, at);
      if (typeof end === "string") return end;
      at = end;
    } else if (character === "{") commas.push(0);
    else if (character === "," && commas.length > 0) commas[commas.length - 1] = (commas.at(-1) ?? 0) + 1;
    else if (character === "}") {
      const found = commas.pop();
      if (found === undefined) return "a } closes nothing. Write \\} for the character.";
      if (found === 0) return "braces without a comma are text in some tools. Write \\{ and \\} for the characters.";
    }
  }
  return commas.length > 0 ? "a { is never closed. Write \\{ for the character." : undefined;
}

/** Where a class ends, or why it is refused. */
function endOfClass(pattern: string, start: number): number | string {
  let at = start + 1;
  if (pattern[at] === "!" || pattern[at] === "^") at++;
  for (const first = at; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === "]" && at > first) return at;
    if (character === "\\") return "a backslash within [ ] is read differently by different tools.";
    if (character === "[") return "a [ within [ ] is read differently by different tools.";
    if (character === "/") return "a slash is never part of a name, nor of [ ].";
    if ((character ?? "") > "\x7f") return "[ ] with letters beyond ASCII compares bytes in other tools. Use braces, as in {é,è}.";
    if (character === "-" && at > first && pattern[at + 1] !== "]" && (pattern[at + 1] ?? "") < (pattern[at - 1] ?? ""))
      return "a range in [ ] runs backwards.";
  }
  return "a [ is never closed. Write \\[ for the character.";
}
