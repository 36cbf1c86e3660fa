import { nodeVersionProblem } from "./core/node-version.ts";

const problem = nodeVersionProblem(process.versions.node);
if (problem === undefined) {
  // Imported after the check, because an older Node may fail at the imports of the program.
  const [{ runProcess }, { demo }] = await Promise.all([import("./run-process.ts"), import("./demo/demo.ts")]);
  await runProcess({ command: "npm run -s keelson --", version: "demo" }, demo);
} else {
  process.stderr.write(`keelson: ${problem} npm ci installs one for npm start.\n`);
  process.exitCode = 1;
}
