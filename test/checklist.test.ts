import { describe, expect, it } from "vitest";
import { citedIn, coverageOf, readRequirements } from "../tools/checklist.ts";

// Written so that no title of this file cites anything itself.
const [one, two, three] = ["AG-01", "AG-02", "EV-14"] as const;
const where = `id\tproved in issue\n${one}\t1\n${two}\t1\n${three}\t3\n`;
const checklist = `- \`${one}\` First behaviour.\n- \`${two}\` Second behaviour.\n`;
const test = (title: string, status: "passed" | "failed" | "skipped" = "passed") => ({ file: "a.test.ts", title, status });

describe("the checklist", () => {
  it("reads single ids and lists of ids from titles, and nothing else in brackets", () => {
    expect(citedIn(`does it [${one}] and that [${two}, ${three}]`)).toEqual([one, two, three]);
    expect(citedIn("takes [a, b], [A-1x] and ANSI [31m")).toEqual([]);
  });

  it("counts an id as proved only when a test that cites it passed", () => {
    const requirements = readRequirements(where, checklist);
    const { uncited } = coverageOf(requirements, [test(`x [${one}]`), test(`y [${two}]`, "failed"), test(`z [${three}]`, "skipped")]);
    expect(uncited).toEqual([
      { id: two, issue: 1, sentence: "Second behaviour." },
      { id: three, issue: 3, sentence: "" },
    ]);
  });

  it("names ids that no requirement has", () => {
    expect(coverageOf(readRequirements(where, checklist), [test("x [AG-99]")]).unknown).toEqual([{ id: "AG-99", title: "x [AG-99]" }]);
  });

  it("refuses a list it cannot read", () => {
    expect(() => readRequirements("id\tissue\nAG-01 1\n", "")).toThrow("is not an id and an issue");
  });
});
