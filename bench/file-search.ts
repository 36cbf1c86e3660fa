// Processor time of searches in files beside bare ripgrep, over 17,500 files: user and system, of the process and the programs that it starts.
//   node --conditions=source bench/file-search.ts [files]
// Each search runs in a process of its own, with and without bubblewrap in PATH. The time that a process takes to load is measured alone and taken off.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { createDiskVfs, type DiskVfs } from "keelson/environment";

const OPTIONS = { gitignore: true, leaveOut: ["node_modules"] } as const;
type Search = (files: DiskVfs) => Promise<unknown>;
const grep =
  (pattern: string, caseInsensitive = false): Search =>
  (files) =>
    files.grep(pattern, { ...OPTIONS, caseInsensitive, lineNumbers: true, maxMatches: 20_000 });

/** The searches, with the arguments of bare ripgrep for the same. */
const SEARCHES: { readonly [name: string]: readonly [search: Search, ripgrep: readonly string[]] } = {
  "glob **/*.nosuch": [(files) => files.glob("**/*.nosuch", OPTIONS), ["--files", "--glob=**/*.nosuch"]],
  "glob **/*.ts, all": [(files) => files.glob("**/*.ts", OPTIONS), ["--files", "--glob=**/*.ts"]],
  "grep needleWord": [grep("needleWord"), ["needleWord"]],
  "grep needleword, either case": [grep("needleword", true), ["-i", "needleword"]],
  "grep TODO|FIXME": [grep("TODO|FIXME"), ["TODO|FIXME"]],
  "grep \\w+Word\\b": [grep("\\w+Word\\b"), ["\\w+Word\\b"]],
  "grep [0-9]{5}": [grep("[0-9]{5}"), ["[0-9]{5}"]],
};

const [given = "17500", name, folder] = process.argv.slice(2);
if (name === undefined) report(Number(given));
else await (SEARCHES[name]?.[0] ?? (async () => {}))(createDiskVfs({ root: folder ?? "." }));

function report(files: number): void {
  const root = mkdtempSync(join(tmpdir(), "keelson-file-search-"));
  try {
    generate(root, files);
    const own = (search: string, path: string): number =>
      timeOf([process.execPath, "--conditions=source", import.meta.filename, String(files), search, root], { ...process.env, PATH: path });
    const without = ["/nowhere"].join(":");
    const withPath = process.env["PATH"] ?? "/usr/bin:/bin";
    const loading = own("nothing", withPath);
    console.log(`${files} files; processor time in seconds, the least of three; loading takes ${loading.toFixed(2)}\n`);
    console.log("| search | bare rg | with bubblewrap | without |\n| --- | --- | --- | --- |");
    for (const [search, [, args]] of Object.entries(SEARCHES)) {
      const bare = timeOf([rgPath, "--no-config", "--hidden", ...args, ...(args[0] === "--files" ? [] : ["./"])], process.env, root);
      const [first, second] = [own(search, withPath) - loading, own(search, without) - loading];
      console.log(`| ${search} | ${bare.toFixed(2)} | ${first.toFixed(2)} | ${second.toFixed(2)} |`);
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Returns user and system time of a program with those that it started, the least of three runs. */
function timeOf(command: readonly string[], env: NodeJS.ProcessEnv, cwd: string = process.cwd()): number {
  const times = Array.from({ length: 3 }, () => {
    const { stderr } = spawnSync("/usr/bin/time", ["-f", "%U %S", ...command], { encoding: "utf8", env, cwd, maxBuffer: 64 * 1024 * 1024 });
    const [user = 0, system = 0] = (stderr.trim().split("\n").at(-1) ?? "").split(" ").map(Number);
    return user + system;
  });
  return Math.min(...times);
}

/** Makes a repository of small sources: nine in a folder, 5 KB each, of which one in 500 holds the word that is looked for. */
function generate(root: string, count: number): void {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const words = "const function return import export value state user request response error handler index config option result name".split(
    " ",
  );
  for (let file = 0; file < count; file++) {
    const path = join(root, `pkg${Math.floor(file / 90)}`, "src", `mod${Math.floor(file / 9) % 10}`);
    if (file % 9 === 0) mkdirSync(path, { recursive: true });
    const lines = Array.from({ length: 120 }, () => `  ${Array.from({ length: 6 }, () => words[random(words.length)]).join(" ")};`);
    if (file % 500 === 0) lines.push("const needleWord = 1; // TODO mend");
    writeFileSync(join(path, `file${file % 9}.${["ts", "js", "py", "md"][random(4)]}`), `${lines.join("\n")}\n`);
  }
  writeFileSync(join(root, ".gitignore"), "node_modules\ndist/\n*.log\n/build\ncoverage\n.env\n.env.*\n!.env.example\n*.tmp\n**/out/\n");
  execFileSync("git", ["init", "--quiet"], { cwd: root });
  execFileSync("git", ["add", "."], { cwd: root });
}
