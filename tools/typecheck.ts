// Checks every TypeScript project of the workspace with the native compiler: sources, tests, type tests, tools, examples, bench; and the sources
// once more against the oldest Node that they support.
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { root, runCommand } from "./run-command.ts";
import { LEAST_NODE_PROJECT, typescriptProjects } from "./typescript-projects.ts";

const compiler = join(root, "node_modules", "typescript7", "bin", "tsc");
const projects = [...typescriptProjects(), LEAST_NODE_PROJECT];
const waiting = [...projects];
let failed = 0;
async function worker(): Promise<void> {
  for (let project = waiting.shift(); project !== undefined; project = waiting.shift()) {
    const { code, output, seconds } = await runCommand(process.execPath, [compiler, "-p", project]);
    console.log(`${code === 0 ? "ok  " : "FAIL"} ${project} (${seconds.toFixed(1)} s)`);
    if (code !== 0) {
      failed += 1;
      console.log(output);
    }
  }
}
await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, worker));
if (failed > 0) {
  console.log(`${failed} of ${projects.length} projects have type errors`);
  process.exitCode = 1;
}
