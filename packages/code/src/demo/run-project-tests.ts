import { spawn } from "node:child_process";
import { testCounts } from "./test-output.ts";

export interface TestRun {
  readonly passed: boolean;
  readonly counts: { readonly total: number; readonly passed: number; readonly failed: number };
  readonly output: string;
}

/** Runs a project's own tests in a process of their own, with the Node that runs this one. */
export async function runProjectTests(folder: string): Promise<TestRun> {
  const child = spawn(process.execPath, ["--test"], { cwd: folder, env: cleanEnvironment(), stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (output += text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject).once("close", resolve);
  });
  const counts = testCounts(output);
  // A runner that finds no tests is content as well.
  return { passed: code === 0 && counts.total > 0, counts, output };
}

/** Without what a surrounding test runner would make a nested one report to. */
function cleanEnvironment(): { readonly [name: string]: string | undefined } {
  const { NODE_TEST_CONTEXT: _context, NODE_OPTIONS: _options, ...environment } = process.env;
  return environment;
}
