// Which behaviours of the acceptance checklist no passing test cites. Test titles cite ids in brackets: "[EV-14]", "[AG-05, AG-06]".
//   npm run checklist                what is missing, by issue
//   npm run checklist -- --issue 1   the same for one issue; fails if anything of it is missing
// It judges the last whole run of the tests (results/tests.json).
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./run-command.ts";
import { type ReportedTest, readTestReport } from "./test-report.ts";

export interface Requirement {
  readonly id: string;
  readonly issue: number;
  readonly sentence: string;
}

/** The ids that a title cites, in their order. */
export function citedIn(title: string): readonly string[] {
  return [...title.matchAll(/\[([A-Z]{2,}-\d+(?:\s*,\s*[A-Z]{2,}-\d+)*)\]/g)].flatMap(([, list]) =>
    (list ?? "").split(",").map((id) => id.trim()),
  );
}

/** `where` has a line for each id, with the issue that proves it; `checklist` has the sentence for it, after "- `ID` ". */
export function readRequirements(where: string, checklist: string): readonly Requirement[] {
  const sentences = new Map([...checklist.matchAll(/^- `([A-Z]{2,}-\d+)` (.*)$/gm)].map(([, id, sentence]) => [id, sentence]));
  return where
    .split("\n")
    .slice(1)
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [id = "", issue = ""] = line.split("\t");
      if (!/^[A-Z]{2,}-\d+$/.test(id) || !/^\d+$/.test(issue.trim())) throw new Error(`where.tsv: "${line}" is not an id and an issue`);
      return { id, issue: Number(issue), sentence: sentences.get(id) ?? "" };
    });
}

export interface Coverage {
  readonly uncited: readonly Requirement[];
  /** Cited by tests, but no requirement has this id: a typing error, most likely. */
  readonly unknown: readonly { readonly id: string; readonly title: string }[];
}

export function coverageOf(requirements: readonly Requirement[], tests: readonly ReportedTest[]): Coverage {
  const known = new Set(requirements.map(({ id }) => id));
  const proved = new Set(tests.filter((test) => test.status === "passed").flatMap((test) => citedIn(test.title)));
  return {
    uncited: requirements.filter(({ id }) => !proved.has(id)),
    unknown: tests.flatMap(({ title }) =>
      citedIn(title)
        .filter((id) => !known.has(id))
        .map((id) => ({ id, title })),
    ),
  };
}

function main(): number {
  const { values } = parseArgs({
    options: { issue: { type: "string", multiple: true }, report: { type: "string" }, spec: { type: "string" } },
  });
  const spec = values.spec ?? join(root, "..", "shared", "spec");
  const [wherePath, checklistPath] = [join(spec, "where.tsv"), join(spec, "seed-checklist.md")];
  if (!existsSync(wherePath) || !existsSync(checklistPath)) {
    console.log(
      `The checklist was not judged: ${spec} holds no where.tsv and seed-checklist.md. They are kept beside the repository, not in it.`,
    );
    return process.env["KEELSON_REQUIRE_SHARED"] === "1" ? 1 : 0;
  }
  const requirements = readRequirements(readFileSync(wherePath, "utf8"), readFileSync(checklistPath, "utf8"));
  const report = readTestReport(values.report ?? join(root, "results", "tests.json"));
  const { uncited, unknown } = coverageOf(requirements, report.tests);

  const wanted = (values.issue ?? []).map(Number);
  const issues = [...new Set(requirements.map(({ issue }) => issue))].sort((a, b) => a - b);
  for (const issue of wanted)
    if (!issues.includes(issue)) throw new Error(`No requirement belongs to issue ${issue}; there are ${issues.join(", ")}`);

  console.log(
    `checklist, judged by the tests of ${new Date(report.startedAt).toISOString()} (${report.passed} passed, ${report.failed} failed)`,
  );
  let failed = false;
  for (const issue of issues) {
    const all = requirements.filter((requirement) => requirement.issue === issue);
    const missing = uncited.filter((requirement) => requirement.issue === issue);
    console.log(`issue ${issue}: ${all.length - missing.length} of ${all.length} cited`);
    if (wanted.includes(issue)) {
      for (const { id, sentence } of missing) console.log(`  ${id} ${sentence.slice(0, 140)}`);
      failed ||= missing.length > 0;
    } else if (missing.length > 0 && wanted.length === 0) {
      console.log(`  ${missing.map(({ id }) => id).join(" ")}`);
    }
  }
  for (const { id, title } of unknown) console.log(`unknown id ${id} in "${title}"`);
  return failed || unknown.length > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = main();
