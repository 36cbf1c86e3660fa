import type { TestReport } from "./test-report.ts";

/** More flaky files than this fail a run: then the machine or the change is at fault, not chance. */
export const MAX_FLAKY_FILES = 3;

/** With more failed files than this, none is run again: the change broke something. */
export const MAX_FILES_TO_RERUN = 10;

/** A test that failed among the others and passed when its file ran alone. */
export interface FlakyTest {
  /** Relative to the workspace. */
  readonly file: string;
  readonly title: string;
}

export interface RerunResult {
  readonly flaky: readonly FlakyTest[];
  /** Files that failed again, or that were not run again. */
  readonly failedFiles: readonly string[];
}

/**
 * Runs each failed file of a report once more, alone and one after another.
 * @param run runs one file and returns true if all of it passed
 */
export async function rerunFailedFiles(report: TestReport, run: (file: string) => Promise<boolean>): Promise<RerunResult> {
  const failed = report.tests.filter(({ status }) => status === "failed");
  const files = [...new Set(failed.map(({ file }) => file))];
  if (files.length > MAX_FILES_TO_RERUN) return { flaky: [], failedFiles: files };
  const flaky: FlakyTest[] = [];
  const failedFiles: string[] = [];
  for (const file of files) {
    if (await run(file)) flaky.push(...failed.filter((test) => test.file === file).map(({ title }) => ({ file, title })));
    else failedFiles.push(file);
  }
  return { flaky, failedFiles };
}

/** Returns the number of files that flaky tests are in. */
export function countFlakyFiles(flaky: readonly FlakyTest[]): number {
  return new Set(flaky.map(({ file }) => file)).size;
}
