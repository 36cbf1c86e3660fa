// Everything that can be said about the code without running its tests. `npm run verify -- lint layers` runs only those steps.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root, runCommand } from "./run-command.ts";

/** Issues whose whole checklist is proved; from then on it stays proved. */
const provedIssues: readonly string[] = ["1", "2", "3"];

interface Step {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

const script = (name: string, ...args: readonly string[]): Step => ({
  name,
  command: "npm",
  args: ["run", "--silent", name, ...(args.length > 0 ? ["--", ...args] : [])],
});

const steps: readonly Step[] = [
  script("typecheck"),
  script("lint"),
  { ...script("format", "--check"), name: "format" },
  script("layers"),
  script("unused"),
  script("build"),
  script("check-packages"),
  script("type-cost"),
  script("weight"),
  { name: "lock-file", command: "npm", args: ["ci", "--dry-run", "--ignore-scripts"] },
  // Without a report of the tests there is nothing to judge; `.ci/run` runs them first.
  ...(existsSync(join(root, "results", "tests.json")) ? [script("checklist", ...provedIssues.flatMap((issue) => ["--issue", issue]))] : []),
];

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !steps.some((step) => step.name === name));
if (unknown.length > 0) throw new Error(`There is no step ${unknown.join(", ")}; there are ${steps.map(({ name }) => name).join(", ")}`);

const failed: string[] = [];
for (const { name, command, args, env } of steps.filter((step) => wanted.length === 0 || wanted.includes(step.name))) {
  const { code, output, seconds } = await runCommand(command, args, { env: { ...process.env, ...env } });
  console.log(`${code === 0 ? "ok  " : "FAIL"} ${name} (${seconds.toFixed(1)} s)`);
  if (code !== 0) {
    failed.push(name);
    console.log(output.trimEnd());
  } else if (name === "check-packages" || name === "checklist" || name === "type-cost" || name === "weight") {
    console.log(output.trimEnd().replace(/^/gm, "     "));
  }
}
if (!steps.some(({ name }) => name === "checklist"))
  console.log("note checklist: not judged, since there is no report of a test run (results/tests.json)");
console.log(failed.length === 0 ? "verify: everything holds" : `verify: ${failed.join(", ")} failed`);
process.exitCode = failed.length === 0 ? 0 : 1;
