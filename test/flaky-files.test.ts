import { describe, expect, it } from "vitest";
import { MAX_FILES_TO_RERUN, rerunFailedFiles } from "../tools/flaky-files.ts";
import type { ReportedTest, TestReport } from "../tools/test-report.ts";

function reportOf(...tests: readonly (readonly [file: string, title: string, status: ReportedTest["status"]])[]): TestReport {
  const count = (wanted: ReportedTest["status"]): number => tests.filter(([, , status]) => status === wanted).length;
  return {
    tests: tests.map(([file, title, status]) => ({ file, title, status })),
    passed: count("passed"),
    failed: count("failed"),
    skipped: count("skipped"),
    startedAt: 0,
  };
}

describe("rerunFailedFiles", () => {
  it("runs only files with failures, each once, and names the tests of those that pass then", async () => {
    const runs: string[] = [];
    const report = reportOf(
      ["a.test.ts", "one", "failed"],
      ["a.test.ts", "two", "failed"],
      ["b.test.ts", "one", "passed"],
      ["c.test.ts", "one", "failed"],
    );
    const result = await rerunFailedFiles(report, async (file) => {
      runs.push(file);
      return file === "a.test.ts";
    });
    expect(runs).toEqual(["a.test.ts", "c.test.ts"]);
    expect(result).toEqual({
      flaky: [
        { file: "a.test.ts", title: "one" },
        { file: "a.test.ts", title: "two" },
      ],
      failedFiles: ["c.test.ts"],
    });
  });

  it("runs nothing again if too many files failed", async () => {
    const files = Array.from({ length: MAX_FILES_TO_RERUN + 1 }, (_, index) => `${index}.test.ts`);
    const result = await rerunFailedFiles(reportOf(...files.map((file) => [file, "one", "failed"] as const)), () => {
      throw new Error("must not run");
    });
    expect(result).toEqual({ flaky: [], failedFiles: files });
  });
});
