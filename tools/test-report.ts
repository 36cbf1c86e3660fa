import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { root } from "./run-command.ts";

export interface ReportedTest {
  readonly file: string;
  /** The titles of its `describe` blocks and its own, joined by " > ". */
  readonly title: string;
  readonly status: "passed" | "failed" | "skipped";
}

export interface TestReport {
  readonly tests: readonly ReportedTest[];
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Unix ms at which the run began. */
  readonly startedAt: number;
}

interface VitestJson {
  readonly startTime: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly ancestorTitles: readonly string[]; readonly title: string; readonly status: string }[];
  }[];
}

/** Reads what vitest's JSON reporter wrote. A file that failed before its first test counts as one failed test. */
export function readTestReport(path: string): TestReport {
  if (!existsSync(path)) throw new Error(`${relative(root, path)} does not exist: run \`npm test\` first`);
  const json = JSON.parse(readFileSync(path, "utf8")) as VitestJson;
  const tests = json.testResults.flatMap((file): ReportedTest[] => {
    const name = relative(root, file.name);
    const found = file.assertionResults.map((test): ReportedTest => {
      const status = test.status === "passed" ? "passed" : test.status === "failed" ? "failed" : "skipped";
      return { file: name, title: [...test.ancestorTitles, test.title].join(" > "), status };
    });
    const brokeOutsideOfTests = file.status === "failed" && !found.some((test) => test.status === "failed");
    return brokeOutsideOfTests
      ? [...found, { file: name, title: `the file itself: ${file.message.split("\n")[0]}`, status: "failed" }]
      : found;
  });
  const count = (status: ReportedTest["status"]): number => tests.filter((test) => test.status === status).length;
  return { tests, passed: count("passed"), failed: count("failed"), skipped: count("skipped"), startedAt: json.startTime };
}

/** Replaces the results of a file in the report at `path` by those of a report of that file alone. */
export function replaceFileResults(path: string, partPath: string): void {
  const whole = JSON.parse(readFileSync(path, "utf8")) as VitestJson;
  const part = JSON.parse(readFileSync(partPath, "utf8")) as VitestJson;
  const names = new Set(part.testResults.map(({ name }) => name));
  const testResults = [...whole.testResults.filter(({ name }) => !names.has(name)), ...part.testResults];
  writeFileSync(path, JSON.stringify({ ...whole, testResults }));
}
