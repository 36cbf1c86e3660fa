import { execFile } from "node:child_process";
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, relative, sep } from "node:path";
import { UsageError } from "../options/usage-error.ts";

const MAX_OUTPUT = 64 * 1024 * 1024;
const WAIT_MS = 10 * 60_000;

export interface GitResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Git, without the programs that a repository brings. */
export interface Git {
  /** The filters of the repository's own settings, which are not run. */
  readonly leftFilters: readonly string[];
  run(folder: string, ...args: readonly string[]): Promise<GitResult>;
}

/**
 * Opens git for a repository. Hooks, the file watcher, transports and the filters that the settings of the repository name do not run: an unpacked
 * archive can bring such settings. Filters of the person's own settings do.
 * @param root of the repository: git is not taken from a folder below it
 * @throws UsageError if there is no git, or it does not accept the repository
 */
export async function openGit(root: string, environment: { readonly [name: string]: string | undefined }): Promise<Git> {
  const program = findGit(root, environment["PATH"] ?? "");
  if (program === undefined)
    throw new UsageError("--worktree needs git, and there is no git in PATH", "Install git, or leave --worktree away.");
  const env = gitEnvironment(environment);
  const read = (folder: string, args: readonly string[]): Promise<GitResult> =>
    start(program, ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "submodule.recurse=false", ...args], folder, env);
  const filters = await filtersOf(root, read);
  const off = filters.flatMap((name) => [
    ...["clean", "smudge", "process"].flatMap((kind) => ["-c", `filter.${name}.${kind}=`]),
    ...["-c", `filter.${name}.required=false`],
  ]);
  return { leftFilters: filters, run: (folder, ...args) => read(folder, [...off, ...args]) };
}

/** Reads the names of filters in the settings of the repository itself. */
async function filtersOf(root: string, read: (folder: string, args: readonly string[]) => Promise<GitResult>): Promise<readonly string[]> {
  const { code, stdout, stderr } = await read(root, [
    "config",
    "--show-scope",
    "--includes",
    "--null",
    "--name-only",
    "--get-regexp",
    "^filter\\.",
  ]);
  // 1: there is none.
  if (code > 1) throw refusedByGit(root, stderr);
  const names = new Set<string>();
  for (const [, scope, key = ""] of stdout.matchAll(/([^\0]*)\0([^\0]*)\0/g)) {
    const name = /^filter\.(.*)\.[^.]+$/s.exec(key)?.[1];
    if (name === undefined || scope === "system" || scope === "global") continue;
    if (/[=\n]/.test(name))
      throw new UsageError(
        `the settings of the repository ${root} name a filter ${JSON.stringify(name)}, which cannot be switched off`,
        "Rename the filter in .git/config, or leave --worktree away.",
      );
    names.add(name);
  }
  return [...names];
}

export function refusedByGit(root: string, stderr: string): UsageError {
  const reason = stderr
    .trim()
    .split("\n")
    .filter((line) => line.trim() !== "");
  return new UsageError(
    `git cannot work with the repository ${root}: ${reason[0]?.replace(/^(?:fatal|error): /, "") ?? "it says no reason"}`,
    reason.slice(1).join("\n") || "Mend that, or leave --worktree away.",
  );
}

/** A program of the project, or in a folder relative to it, is not taken. */
function findGit(root: string, path: string): string | undefined {
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const candidate = join(folder, process.platform === "win32" ? "git.exe" : "git");
    try {
      accessSync(candidate, constants.X_OK);
      if (statSync(candidate).isFile() && !isWithin(root, candidate) && !isWithin(root, realpathSync(candidate))) return candidate;
    } catch {
      // Not here.
    }
  }
  return undefined;
}

/** Variables of git would name another repository, as in a hook that starts Keelson. */
function gitEnvironment(environment: { readonly [name: string]: string | undefined }): NodeJS.ProcessEnv {
  const kept = Object.entries(environment).filter(
    ([name]) =>
      !name.startsWith("GIT_") ||
      name.startsWith("GIT_CONFIG_GLOBAL") ||
      name.startsWith("GIT_CONFIG_SYSTEM") ||
      name === "GIT_CONFIG_NOSYSTEM",
  );
  return { ...Object.fromEntries(kept), GIT_ALLOW_PROTOCOL: "none", GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" };
}

function start(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env, maxBuffer: MAX_OUTPUT, timeout: WAIT_MS };
    const child = execFile(program, [...args], options, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== "number") reject(error);
      else resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
    child.stdin?.end();
  });
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
