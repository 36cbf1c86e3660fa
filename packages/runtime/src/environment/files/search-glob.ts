import { VfsError } from "@keelson/protocol";
import { compileGlob } from "./glob-pattern.ts";
import { unsupported } from "./vfs-failures.ts";

/** The glob of a search, over paths relative to where it starts. */
export interface SearchGlob {
  matches(path: string, isDir: boolean): boolean;
  /** False when nothing below this folder can match. `""` is the start. */
  mayMatchBelow(folder: string): boolean;
}

/**
 * Compiles a glob in the language that ripgrep and git share: `*`, `?`, `[a-z]`, `[!a-z]` within a name, `**` as a
 * whole name for any number of folders, `\` before a character that stands for itself, a slash at the end for folders
 * only; and `{a,b}`, which git lacks. What one of them reads otherwise is refused as `unsupported`, with the reason. Two
 * things are not alike: `?` and `[!a]` stand for one character here and for one byte there, so that only we find `é` by `?`;
 * and to ripgrep, unlike to git and us, `[!a]` and a range around it may stand for a slash.
 */
export function compileSearchGlob(pattern: string): SearchGlob {
  requireKnown(pattern);
  try {
    const { matches, mayMatchBelow } = compileGlob(pattern);
    const foldersOnly = pattern.endsWith("/");
    return { matches: (path, isDir) => (isDir || !foldersOnly) && matches(path), mayMatchBelow };
  } catch (error) {
    throw new VfsError({ kind: "other", message: (error as Error).message }, { cause: error });
  }
}

/** Compiles the glob of a `grep`: one without a slash is about names, wherever they are. */
export function compileFileFilter(pattern: string): SearchGlob {
  // A slash at the beginning says only that it begins where the search does.
  const relative = pattern.replace(/^\//, "");
  requireKnown(relative);
  return compileSearchGlob(pattern.includes("/") ? relative : `**/${relative}`);
}

function requireKnown(pattern: string): void {
  const reason = reasonToRefuse(pattern);
  if (reason !== undefined) throw unsupported("glob", `The glob ${pattern} is not searched for: ${reason}`);
}

function reasonToRefuse(pattern: string): string | undefined {
  if (pattern === "") return "it is empty. ** finds everything.";
  if (pattern.startsWith("!")) return "it begins with !, which excludes in some tools. Write [!] or \\! for the character.";
  if (pattern.startsWith("/")) return "it is absolute. Give the folder as path, and a pattern relative to it.";
  return reasonInNames(pattern) ?? reasonInCharacters(pattern);
}

function reasonInNames(pattern: string): string | undefined {
  const names = pattern.replace(/^\.\//, "").replace(/\/$/, "").split("/");
  if (names.includes("..") || names.includes(".") || names.includes(""))
    return "a name in it is empty, a dot or two. Write the path without.";
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
