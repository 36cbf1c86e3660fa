import { compileGlob } from "../files/glob-pattern.ts";
import { pathBelow } from "../files/virtual-path.ts";

/** What one `.gitignore` says. */
export interface GitignoreRules {
  /** `undefined` when it says nothing. The path is relative to the folder of the file. */
  decide(path: string, isDir: boolean): "ignored" | "kept" | undefined;
}

interface Rule {
  /** @param name the last part of the path */
  readonly matches: (path: string, name: string) => boolean;
  readonly keeps: boolean;
  readonly foldersOnly: boolean;
}

/** Reads a `.gitignore` as git does (gitignore(5)): the last rule that matches decides. */
export function parseGitignore(text: string): GitignoreRules {
  const rules = text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map(parseRule)
    .filter((rule) => rule !== undefined)
    .reverse();
  return {
    decide(path, isDir) {
      const name = path.slice(path.lastIndexOf("/") + 1);
      const rule = rules.find(({ matches, foldersOnly }) => (isDir || !foldersOnly) && matches(path, name));
      return rule && (rule.keeps ? "kept" : "ignored");
    },
  };
}

function parseRule(line: string): Rule | undefined {
  // Spaces at the end count only when they are escaped. A \r there belongs to the line end.
  let pattern = line.replace(/\r$/, "").replace(/^((?:\\.|[^\\])*?) +$/s, "$1");
  if (pattern === "" || pattern.startsWith("#")) return undefined;
  const keeps = pattern.startsWith("!");
  if (keeps) pattern = pattern.slice(1);
  const foldersOnly = pattern.endsWith("/");
  if (foldersOnly) pattern = pattern.slice(0, -1);
  if (pattern === "" || hasStrayBackslash(pattern)) return undefined;
  return { matches: compileRule(pattern), keeps, foldersOnly };
}

/** Rules are matched with each path of a search. Most are a name, or a star and the end of a name, for which a comparison is enough. */
function compileRule(pattern: string): Rule["matches"] {
  const anchored = pattern.includes("/");
  const whole = anchored ? pattern.replace(/^\//, "") : pattern;
  if (/^[^*?[\]\\{}]+$/.test(whole) && !/^\.\/|\/\/|\/\.?(?:\/|$)/.test(whole))
    return anchored ? (path) => path === whole : (_, name) => name === whole;
  const ending = anchored ? undefined : /^\*([^*?[\]\\{}]+)$/.exec(whole)?.[1];
  if (ending !== undefined) return (_, name) => name.endsWith(ending);
  // git knows no braces.
  const glob = compileGlob((anchored ? whole : `**/${whole}`).replace(/(?<!\\)((?:\\\\)*)([{}])/g, "$1\\$2"));
  return (path) => glob.matches(path);
}

/** A backslash at the very end escapes nothing, and such a rule never matches. */
function hasStrayBackslash(pattern: string): boolean {
  return (/\\+$/.exec(pattern)?.[0].length ?? 0) % 2 === 1;
}

/** The rules that hold in a folder: its own before those of the folders above. */
export interface RulesOfFolder {
  readonly folder: string;
  readonly rules: GitignoreRules;
  readonly above: RulesOfFolder | undefined;
}

/** Whether git would leave a path out, whose folder it does not. */
export function isIgnored(rules: RulesOfFolder | undefined, path: string, isDir: boolean): boolean {
  for (let at = rules; at !== undefined; at = at.above) {
    const decision = at.rules.decide(pathBelow(at.folder, path), isDir);
    if (decision !== undefined) return decision === "ignored";
  }
  return false;
}
