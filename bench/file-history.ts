// CPU time that the file history of the coding agent takes for a command on a project of 5,000 files: `node --conditions=source bench/file-history.ts [files]`.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCommandLine } from "keelson/environment";
import { createFileHistory } from "../packages/code/src/history/index.ts";

const FILES = Number(process.argv[2] ?? 5000);
const COMMANDS = 10;

const base = realpathSync(mkdtempSync(join(tmpdir(), "keelson-bench-history-")));
const [home, cwd] = [join(base, "home"), join(base, "project")];
mkdirSync(home);
for (let index = 0; index < FILES; index++) {
  const folder = join(cwd, `packages/p${index % 40}/src/part-${index % 9}`);
  if (index < 360) mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `file-${index}.ts`), `export const value${index} = ${index};\n`.repeat(40 + (index % 200)));
}
writeFileSync(join(cwd, ".gitignore"), "node_modules\ndist\n*.log\n.env\ncoverage/\n");
execFileSync("git", ["init", "-q"], { cwd });
execFileSync("git", ["add", "-A"], { cwd });

const history = createFileHistory({ home, cwd });
let calls = 0;

/** Returns the CPU time of this process for a command, in seconds, without that of the command itself. */
async function measure(run: () => void): Promise<number> {
  const before = process.resourceUsage();
  const call = { callId: `call-${++calls}`, runId: "run", session: "bench", signal: new AbortController().signal };
  await history.around(call as never, async () => run());
  const after = process.resourceUsage();
  return (after.userCPUTime + after.systemCPUTime - before.userCPUTime - before.systemCPUTime) / 1e6;
}

/** Returns the same for a command line that deletes, with the question of what undo could not bring back. */
async function measureDeletion(line: string, run: () => void): Promise<number> {
  const before = process.resourceUsage();
  const { destroys = [] } = await readCommandLine(line, { cwd, findDestroyed: true });
  await history.losses(destroys);
  const call = { callId: `call-${++calls}`, runId: "run", session: "bench", signal: new AbortController().signal };
  await history.around(call as never, async () => run(), { destroys });
  const after = process.resourceUsage();
  return (after.userCPUTime + after.systemCPUTime - before.userCPUTime - before.systemCPUTime) / 1e6;
}

const seconds = (values: readonly number[]): string => {
  const sorted = values.toSorted((a, b) => a - b);
  return `median ${(sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(3)} s, most ${(sorted.at(-1) ?? 0).toFixed(3)} s`;
};

console.log(`${FILES} files, own CPU time a command`);
console.log(`first command: ${(await measure(() => {})).toFixed(3)} s`);
const [idle, changing]: [number[], number[]] = [[], []];
for (let index = 0; index < COMMANDS; index++) {
  idle.push(await measure(() => {}));
  changing.push(await measure(() => writeFileSync(join(cwd, "packages/p1/src/part-1/file-1.ts"), `// ${index}\n`)));
}
console.log(`a command that changes nothing: ${seconds(idle)}`);
console.log(`a command that changes one file: ${seconds(changing)}`);
const deleting: number[] = [];
for (let index = 0; index < COMMANDS; index++) {
  const folder = `packages/p${10 + index}`;
  deleting.push(await measureDeletion(`rm -rf ${folder}; git clean -fdx`, () => rmSync(join(cwd, folder), { recursive: true })));
}
console.log(`a command that deletes a folder, with its question: ${seconds(deleting)}`);
rmSync(base, { recursive: true, force: true });
