// The last line of the CI script: what all tests, examples and steps came to. Its arguments are the steps that failed.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run-command.ts";
import { readTestReport } from "./test-report.ts";

let [passed, failed, skipped] = [0, 0, 0];
for (const name of ["tests.json", "tests-part-ci.json"]) {
  const path = join(root, "results", name);
  if (!existsSync(path)) continue;
  const report = readTestReport(path);
  passed += report.passed;
  failed += report.failed;
  skipped += report.skipped;
  for (const test of report.tests.filter(({ status }) => status !== "passed")) console.log(`${test.status}: ${test.file}: ${test.title}`);
}
const examples = join(root, "results", "examples.json");
if (existsSync(examples)) {
  const outcomes = JSON.parse(readFileSync(examples, "utf8")) as readonly { readonly code: number }[];
  passed += outcomes.filter(({ code }) => code === 0).length;
  failed += outcomes.filter(({ code }) => code !== 0).length;
}
const failedSteps = process.argv.slice(2);
if (failedSteps.length > 0) console.log(`steps that failed: ${failedSteps.join(", ")}`);
// A step can fail with every test passing (a type error, a missing report); the line must not look well then.
if (failedSteps.length > 0 && failed === 0) failed = failedSteps.length;
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
