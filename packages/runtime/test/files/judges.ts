import { execFileSync } from "node:child_process";
import { rgPath } from "@vscode/ripgrep";
import type { GrepOptions } from "keelson/environment";

/** A line of a file, as in `src/a.ts:3`. */
export type Place = string;

function ripgrep(root: string, args: readonly string[]): string {
  try {
    return execFileSync(rgPath, ["--no-config", "--hidden", "--sort=path", ...args], {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 256 * 1024 * 1024,
      stdio: ["ignore", "pipe", "pipe"],
    });
  } catch (error) {
    if ((error as { status?: number }).status === 1) return ""; // nothing found
    throw error;
  }
}

function searchOptions(options: GrepOptions): string[] {
  const { caseInsensitive, fixedString, invert, multiline, glob, fileType, context, beforeContext, afterContext } = options;
  return [
    "--no-ignore",
    "--encoding=none",
    "--crlf",
    ...(caseInsensitive ? ["--ignore-case"] : []),
    ...(fixedString ? ["--fixed-strings"] : []),
    ...(invert ? ["--invert-match"] : []),
    ...(multiline ? ["--multiline", "--multiline-dotall"] : []),
    ...(glob === undefined ? [] : [`--glob=${glob}`]),
    ...(fileType === undefined ? [] : [`--type=${fileType}`]),
    ...(context === undefined ? [] : [`--context=${context}`]),
    ...(context !== undefined || beforeContext === undefined ? [] : [`--before-context=${beforeContext}`]),
    ...(context !== undefined || afterContext === undefined ? [] : [`--after-context=${afterContext}`]),
  ];
}

interface RipgrepEvent {
  readonly type: string;
  readonly data: {
    readonly path: { readonly text: string };
    readonly line_number: number;
    readonly lines: { readonly text?: string; readonly bytes?: string };
    readonly submatches: readonly { readonly start: number }[];
  };
}

/** What ripgrep finds: the lines of matches, where the first of each begins, and the lines of context. */
export function judgeMatches(root: string, pattern: string, options: GrepOptions): { matched: Place[]; columns: string[]; shown: Place[] } {
  const output = ripgrep(root, [...searchOptions(options), "--json", `--regexp=${pattern}`, "./"]);
  const result = { matched: [] as Place[], columns: [] as string[], shown: [] as Place[] };
  for (const line of output.split("\n").filter((text) => text !== "")) {
    const { type, data } = JSON.parse(line) as RipgrepEvent;
    if (type !== "match" && type !== "context") continue;
    const path = data.path.text.slice(2);
    const bytes = data.lines.text === undefined ? Buffer.from(data.lines.bytes ?? "", "base64") : Buffer.from(data.lines.text);
    const count = Math.max(1, bytes.filter((byte) => byte === 10).length + (bytes.at(-1) === 10 ? 0 : 1));
    for (let offset = 0; offset < count; offset++) {
      result.shown.push(`${path}:${data.line_number + offset}`);
      if (type === "match") result.matched.push(`${path}:${data.line_number + offset}`);
    }
    // An empty match at the end of a file is a match to it, but it does not say where.
    const start = options.invert ? 0 : data.submatches[0]?.start;
    if (type === "match" && start !== undefined) result.columns.push(`${path}:${data.line_number}:${start}`);
  }
  return result;
}

export function judgeCounts(root: string, pattern: string, options: GrepOptions): string[] {
  const output = ripgrep(root, [...searchOptions(options), "--count", "--null", "--with-filename", `--regexp=${pattern}`, "./"]);
  return output
    .split(/\r?\n/) // as the lines it is told of end
    .filter((line) => line !== "")
    .map((line) => line.slice(2).replace("\0", ":"));
}

export function judgeFiles(root: string, pattern: string, options: GrepOptions): string[] {
  return paths(ripgrep(root, [...searchOptions(options), "--files-with-matches", "--null", `--regexp=${pattern}`, "./"]));
}

/** Whether ripgrep knows the pattern at all. */
export function judgeAccepts(root: string, pattern: string): boolean {
  try {
    ripgrep(root, ["--quiet", `--regexp=${pattern}`, "./"]);
    return true;
  } catch {
    return false;
  }
}

export function judgeRipgrepGlob(root: string, pattern: string): string[] {
  // To ripgrep [!a] may be a slash, which it is to nobody else.
  const withinNames = pattern.replace(/(?<!\\)\[!/g, "[!/");
  return paths(ripgrep(root, ["--files", "--null", "--no-ignore", `--glob=/${withinNames}`, "./"]));
}

export function startRepository(root: string): void {
  git(root, "init", "--quiet");
}

export function judgeGitGlob(root: string, pattern: string): string[] {
  return paths(git(root, "ls-files", "-z", "--others", "--", `:(top,glob)${pattern}`));
}

/** The files that git has left by the `.gitignore` files. */
export function judgeGitUnignored(root: string): string[] {
  return paths(git(root, "ls-files", "-z", "--others", "--exclude-standard"));
}

function git(root: string, ...args: readonly string[]): string {
  const settings = ["-c", "core.excludesFile=/dev/null", "-c", "core.quotePath=false"];
  const env = { PATH: process.env["PATH"], GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null", GIT_CEILING_DIRECTORIES: root };
  return execFileSync("git", [...settings, ...args], { cwd: root, env, encoding: "utf8", maxBuffer: 256 * 1024 * 1024 });
}

function paths(output: string): string[] {
  return output
    .split("\0")
    .filter((path) => path !== "")
    .map((path) => path.replace(/^\.\//, ""))
    .sort();
}
