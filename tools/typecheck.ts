// Checks every TypeScript project of the workspace with the native compiler: sources, tests, type tests, tools, examples, bench.
import { existsSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { root, runCommand } from "./run-command.ts";

const compiler = join(root, "node_modules", "typescript7", "bin", "tsc");
const packages = readdirSync(join(root, "packages")).sort();
const projects = [
  ...packages.flatMap((name) => ["tsconfig.json", "tsconfig.test.json"].map((file) => join("packages", name, file))),
  "tsconfig.json",
].filter((path) => existsSync(join(root, path)));

const withoutProject = packages.filter((name) => !existsSync(join(root, "packages", name, "tsconfig.json")));
if (withoutProject.length > 0) throw new Error(`These packages have no tsconfig.json, so nothing would check them: ${withoutProject.join(", ")}`);

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
