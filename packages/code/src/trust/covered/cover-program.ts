import { readFileSync, realpathSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { CoveredFiles } from "./covered-files.ts";
import { coverJavascript } from "./cover-javascript.ts";
import { coverPython } from "./cover-python.ts";
import { coverShell } from "./cover-shell.ts";
import { coverInherited } from "./cover-variables.ts";
import { findProgram, type StartedProgram } from "./started-program.ts";

type Interpreter = "shell" | "node" | "python";

const INTERPRETERS: ReadonlyMap<string, Interpreter> = new Map([
  ["sh", "shell"],
  ["bash", "shell"],
  ["dash", "shell"],
  ["node", "node"],
  ["python", "python"],
  ["python3", "python"],
]);
/** Options of interpreters that load nothing, before the script. */
const PLAIN_OPTIONS: { readonly [I in Interpreter]: ReadonlySet<string> } = {
  shell: new Set(["-e", "-u", "-x", "-eu", "-ex", "-ux", "-eux", "--"]),
  node: new Set(["--no-warnings", "--enable-source-maps", "--"]),
  python: new Set(["-u", "-B", "-s", "-E", "--"]),
};
const MAX_DEPTH = 20;

/** Adds the files of the project that a line for a shell leads to. */
export function coverLine(text: string, started: StartedProgram, files: CoveredFiles, depth = 0, source?: string): Promise<void> {
  return coverShell(text, started, files, (next) => coverProgram(next, files, depth), source);
}

/** Adds the files of the project that this program leads to. */
export async function coverProgram(started: StartedProgram, files: CoveredFiles, depth = 0): Promise<void> {
  const { program, args, cwd } = started;
  const shown = [program, ...args].join(" ");
  for (const word of args) files.addWord(word, cwd);
  if (depth > MAX_DEPTH) return files.notUnderstood(`${shown}, which is started by too many others`);
  const found = findProgram(started, files);
  if (found === undefined) return files.notUnderstood(`${shown}, whose program is not found`);
  if (!files.isWithin(found) || isOwnNode(found))
    return coverInterpreted(INTERPRETERS.get(basename(found)), started, files, { shown, depth });
  const real = files.addRun(found);
  const first = real === undefined ? "" : (readFileSync(real).subarray(0, 200).toString("latin1").split("\n")[0] ?? "");
  const shebang = /^#!\s*(?:\/usr)?\/bin\/(?:env\s+)?(?<name>\w+)\s*$/.exec(first)?.groups?.["name"];
  const interpreter = INTERPRETERS.get(shebang ?? "");
  if (interpreter === undefined) return files.notUnderstood(`${shown}, which is no script of a kind that is read here`);
  await coverScript(interpreter, found, started, files, depth);
}

async function coverInterpreted(
  interpreter: Interpreter | undefined,
  started: StartedProgram,
  files: CoveredFiles,
  { shown, depth }: { readonly shown: string; readonly depth: number },
): Promise<void> {
  const { args, cwd } = started;
  if (interpreter === undefined) return files.notUnderstood(shown);
  const [first, line, ...more] = args;
  if (interpreter === "shell" && first === "-c" && line !== undefined && more.length === 0)
    return coverLine(line, started, files, depth + 1);
  const at = args.findIndex((argument) => !PLAIN_OPTIONS[interpreter].has(argument));
  const script = args[at];
  if (script === undefined || script.startsWith("-")) return files.notUnderstood(shown);
  const path = resolve(cwd, script);
  if (!files.isWithin(path)) return files.notUnderstood(shown);
  const isThere = files.addPossible(path);
  if (isThere && files.add(path) === undefined) return files.notUnderstood(`${shown}, whose script is no file of the repository`);
  // A missing script does not run; `node x` would run `x.js`.
  if (isThere || interpreter === "node") await coverScript(interpreter, path, started, files, depth);
}

async function coverScript(
  interpreter: Interpreter,
  path: string,
  started: StartedProgram,
  files: CoveredFiles,
  depth: number,
): Promise<void> {
  coverInherited(interpreter, process.env, files);
  if (interpreter === "node") return coverJavascript(path, started.cwd, files);
  if (interpreter === "python") return coverPython(path, started.cwd, files);
  const real = files.addRun(path);
  if (real !== undefined) await coverLine(readFileSync(real, "utf8"), started, files, depth + 1, path);
}

/** True for the Node that runs this process, which may be installed in the project. */
function isOwnNode(path: string): boolean {
  try {
    return realpathSync(path) === realpathSync(process.execPath);
  } catch {
    return false;
  }
}
