/** The counts at the end of a run of node's test runner, whose marks differ between reporters (`ℹ` or `#`). */
export function testCounts(output: string): { readonly total: number; readonly passed: number; readonly failed: number } {
  const count = (name: string): number => Number(new RegExp(`^(?:ℹ|#) ${name} (\\d+)$`, "m").exec(output)?.[1] ?? 0);
  return { total: count("tests"), passed: count("pass"), failed: count("fail") + count("cancelled") };
}

/** A test that failed. */
interface FailingTest {
  readonly name: string;
  /** The file and its folder: `test/money.test.js`. Absent: the reporter does not say it. */
  readonly file?: string;
}

/** The tests that failed; of a failing group only its tests. */
export function failingTests(output: string): readonly FailingTest[] {
  const summary = output.slice(Math.max(0, output.indexOf("failing tests:")));
  const found = [
    ...summary.matchAll(/^(?:test at (?<file>\S+?):\d+:\d+\n)?✖ (?<name>.+) \([\d.]+ms\)$/gm),
    ...output.matchAll(/^ {4}not ok \d+ - (?<name>.+)$/gm),
  ].map(({ groups }) => {
    const file = groups?.["file"];
    return { name: groups?.["name"] ?? "", ...(file !== undefined && { file }) };
  });
  return [...new Map(found.map((test) => [test.name, test])).values()];
}

/** The modules whose tests failed, by the convention that `test/x.test.js` tests `src/x.js`. */
export function suspectModules(output: string): readonly string[] {
  const names = [...output.matchAll(/test\/([\w-]+)\.test\.js:\d+/g)].map((match) => `src/${match[1]}.js`);
  return [...new Set(names)].sort();
}
