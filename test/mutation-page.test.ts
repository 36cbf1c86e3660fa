import { describe, expect, it } from "vitest";
import { mutationPage, type MutationReport } from "../tools/mutation-page.ts";

const source = 'const a = 1;\nconst b = a | 2;\nexport { a, b as "c" };\n';
const at = (line: number, from: number, to: number) => ({ start: { line, column: from }, end: { line, column: to } });
const report: MutationReport = {
  files: {
    "src/sum.ts": {
      source,
      mutants: [
        { mutatorName: "Number", replacement: "0", status: "Killed", location: at(1, 11, 12) },
        { mutatorName: "Number", replacement: "3", status: "Timeout", location: at(2, 15, 16) },
        { mutatorName: "Bits", replacement: "a & 2", status: "Survived", location: at(2, 11, 16) },
        { mutatorName: "Text", replacement: '""', status: "NoCoverage", location: at(3, 18, 21) },
        { mutatorName: "Text", replacement: "?", status: "Ignored", location: at(3, 1, 2) },
      ],
    },
  },
};
const facts = {
  parts: [{ name: "sums", commit: "abc", report }],
  day: "2026-01-02",
  seed: "7",
  machine: "one",
  wanted: ["src/sum.ts", "src/product.ts"],
};

describe("the page on a mutation test", () => {
  it("counts what was noticed among what could be, by file and over all", () => {
    const { text, score } = mutationPage({ ...facts, findings: { closed: [], living: {} } });
    expect(score).toBe(50);
    expect(text).toContain("- sums, at commit abc: 50.0 % of 5");
    expect(text).toContain("| src/sum.ts | 5 | 1 | 1 | 1 | 1 | 50.0 % | 2 |");
    expect(text).toContain("Not run this time:\n\n- src/product.ts\n");
  });

  it("says of each survivor why it lives, and of those that nobody judged just that", () => {
    const living = {
      "src/sum.ts": { "bits | pieces": ["a | 2 → a & 2"], "not this one": ["a | 2 → a ^ 2"] },
      "src/product.ts": { "another file": ["export"] },
    };
    const { text, unexplained } = mutationPage({ ...facts, findings: { closed: [], living } });
    expect(unexplained).toBe(1);
    expect(text).toContain("### src/sum.ts: 2 of 5\n");
    expect(text).toContain("| bits \\| pieces | 2 `a \\| 2` → `a & 2` |");
    expect(text).toContain('| **not judged** | 3 (not covered) `"c"` → `""` |');
  });

  it("takes a part of a line for all that begin on it, where nothing is said of the change itself", () => {
    const living = { "src/sum.ts": { "a line": ["const b", 'as "c"'], "a change": ["a | 2 → a & 2"] } };
    const { text, unexplained } = mutationPage({ ...facts, findings: { closed: [], living } });
    expect(unexplained).toBe(0);
    expect(text).toContain("| a change | 2 ");
    expect(text).toContain("| a line | 3 (not covered) ");
  });
});
