// The last line of the CI script: what all tests, examples and steps came to. Its arguments are the steps that failed.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run-command.ts";
import { readTestReport } from "./test-report.ts";

let [passed, failed, skipped] = [0, 0, 0];
const reportPath = join(root, "results", "tests.json");
if (existsSync(reportPath)) {
  const report = readTestReport(reportPath);
  ({ passed, failed, skipped } = report);
  for (const test of report.tests.filter(({ status }) => status !== "passed")) console.log(`${test.status}: ${test.file}: ${test.title}`);
}
const flakyPath = join(root, "results", "flaky.json");
if (existsSync(flakyPath)) {
  const flaky = JSON.parse(readFileSync(flakyPath, "utf8")) as readonly {
    readonly file: string;
    readonly title: string;
    readonly seed: string;
  }[];
  for (const { file, title, seed } of flaky) console.log(`flaky: ${file}: ${title} (seed ${seed}): failed among the others, passed alone`);
}
for (const name of ["examples.json", "conformance-mcp.json"]) {
  const path = join(root, "results", name);
  if (!existsSync(path)) continue;
  const outcomes = JSON.parse(readFileSync(path, "utf8")) as readonly { readonly code: number }[];
  passed += outcomes.filter(({ code }) => code === 0).length;
  failed += outcomes.filter(({ code }) => code !== 0).length;
}
const failedSteps = process.argv.slice(2);
if (failedSteps.length > 0) console.log(`steps that failed: ${failedSteps.join(", ")}`);
// A step can fail with every test passing (a type error, a missing report); the line must not look well then.
if (failedSteps.length > 0 && failed === 0) failed = failedSteps.length;
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
