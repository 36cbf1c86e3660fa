#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { nodeVersionProblem } from "./core/node-version.ts";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { readonly version: string };

const problem = nodeVersionProblem(process.versions.node);
if (problem === undefined) {
  // Imported after the check, because an older Node may fail at the imports of the program.
  const { startCommand } = await import("./start-command.ts");
  await startCommand(version);
} else {
  process.stderr.write(`keelson: ${problem}\n`);
  process.exitCode = 1;
}
