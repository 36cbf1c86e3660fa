interface Place {
  readonly line: number;
  readonly column: number;
}

export interface ReportedMutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Place; readonly end: Place };
  /** It is evaluated when its file is loaded. */
  readonly static?: boolean;
  /** The tests that reach it otherwise. */
  readonly coveredBy?: readonly string[];
}

/** What of the report of a mutation test is read. */
export interface MutationReport {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly ReportedMutant[] }>>;
}

/** A hole that mutation testing showed, and the test that was written for it. */
export interface ClosedHole {
  readonly file: string;
  readonly hole: string;
  readonly test: string;
}

export interface MutationFindings {
  readonly closed: readonly ClosedHole[];
  /**
   * By file, then by why no test can or should tell the difference: the places of those that live for this reason. A place is a part
   * of the line on which they begin; where others on that line live for another reason, or should not live at all, it is the code
   * that was replaced, ` → `, and its replacement.
   */
  readonly living: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

interface Facts {
  readonly parts: readonly { readonly name: string; readonly commit: string; readonly report: MutationReport }[];
  readonly findings: MutationFindings;
  readonly day: string;
  readonly seed: string;
  /** The share of the mutants that were run, where not all of them were. */
  readonly sample?: string | undefined;
  readonly machine: string;
  /** Files that were to be mutated, whether or not the report speaks of them. */
  readonly wanted: readonly string[];
}

const noticed = new Set(["Killed", "Timeout"]);
const unnoticed = new Set(["Survived", "NoCoverage"]);

/** The page of evidence on a mutation test; `score` in percent, over all files. */
export function mutationPage({ parts, findings, day, seed, sample, machine, wanted }: Facts): {
  readonly text: string;
  readonly score: number;
  readonly unexplained: number;
} {
  const files = parts.flatMap(({ report }) => Object.entries(report.files));
  const mutants = files.flatMap(([, file]) => file.mutants);
  const survivorsByFile = files.map(([name, file]) => ({ name, all: file.mutants.length, survivors: survivorsOf(name, file, findings) }));
  const missing = wanted.filter((name) => !files.some(([file]) => file === name));
  const text = [
    `# Mutation test of ${day}`,
    "",
    `Seed ${seed}: of ${mutants.length} mutants ${count(mutants, noticed)} were noticed by a test, ${scoreOf(mutants).toFixed(1)} %.`,
    ...parts.map(({ name, commit, report }) => {
      const own = Object.values(report.files).flatMap((file) => file.mutants);
      return `- ${name}, at commit ${commit}: ${scoreOf(own).toFixed(1)} % of ${own.length}`;
    }),
    "",
    `Machine: ${machine}.`,
    ...(sample === undefined
      ? []
      : [`A sample: a share of ${sample} of all mutants, which the seed chose (\`npm run mutate -- --sample ${sample}\`).`]),
    "Repeat it with `npm run mutate`, for one part with `npm run mutate -- gates` (tool-call-ledger, budget-ledger, loop, or a file).",
    "The tests are those of `tools/mutation.config.ts`: fast ones that speak of these parts, with a small sample of the model-based one.",
    "What is known of a mutant from an earlier commit holds as long as its code and the tests that meet it are the same; else it is tested again.",
    "",
    "| file | mutants | killed | timed out | survived | not covered | score | survivors not judged |",
    "|---|---|---|---|---|---|---|---|",
    ...files.map(([name, { mutants: own }], index) => {
      const of = (status: string): number => count(own, new Set([status]));
      return `| ${name} | ${own.length} | ${of("Killed")} | ${of("Timeout")} | ${of("Survived")} | ${of("NoCoverage")} | ${scoreOf(own).toFixed(1)} % | ${unjudged(survivorsByFile[index]?.survivors ?? [])} |`;
    }),
    "",
    ...(missing.length === 0
      ? ["Every file of the parts was run.", ""]
      : ["Not run this time:", "", ...missing.map((name) => `- ${name}`), ""]),
    "## Holes it showed, and the tests that close them",
    "",
    ...(findings.closed.length === 0 ? ["None."] : ["| file | what nothing noticed | test |", "|---|---|---|"]),
    ...findings.closed.map(({ file, hole, test }) => `| ${file} | ${inCell(hole)} | ${inCell(test)} |`),
    "",
    "## Survivors",
    "",
    "By file and by why they live: line, code, and what it became.",
    "",
    ...survivorsByFile.flatMap(({ name, all, survivors }) => (survivors.length === 0 ? [] : sectionOf(name, all, survivors))),
  ].join("\n");
  const unexplained = unjudged(survivorsByFile.flatMap(({ survivors }) => survivors));
  return { text, score: scoreOf(mutants), unexplained };
}

interface LivingMutant {
  readonly mutant: ReportedMutant;
  readonly original: string;
  readonly becomes: string;
  readonly why: string | undefined;
}

function survivorsOf(
  name: string,
  { source, mutants }: MutationReport["files"][string],
  { living }: MutationFindings,
): readonly LivingMutant[] {
  const lines = source.split("\n");
  const reasons = Object.entries(living[name] ?? {});
  return mutants
    .filter((mutant) => unnoticed.has(mutant.status))
    .sort((a, b) => a.location.start.line - b.location.start.line || a.location.start.column - b.location.start.column)
    .map((mutant) => {
      const line = lines[mutant.location.start.line - 1] ?? "";
      const original = onOneLine(textAt(source, mutant.location));
      const becomes = onOneLine(mutant.replacement ?? "");
      const change = `${original} → ${becomes}`;
      const known =
        reasons.find(([, places]) => places.includes(change)) ?? reasons.find(([, places]) => places.some((place) => line.includes(place)));
      return { mutant, original, becomes, why: known?.[0] };
    });
}

function unjudged(survivors: readonly LivingMutant[]): number {
  return survivors.filter(({ why }) => why === undefined).length;
}

/** What became of the survivors of a file, reason by reason. */
function sectionOf(name: string, all: number, survivors: readonly LivingMutant[]): readonly string[] {
  const reasons = new Set(survivors.map(({ why }) => why));
  return [
    `### ${name.replace(/^packages\/runtime\/src\//, "")}: ${survivors.length} of ${all}`,
    "",
    "| why they live | line, code → became |",
    "|---|---|",
    ...[...reasons].map((reason) => {
      const places = survivors
        .filter(({ why }) => why === reason)
        .map(
          ({ mutant, original, becomes }) =>
            `${mutant.location.start.line}${mutant.status === "NoCoverage" ? " (not covered)" : ""} ${asCode(original)} → ${asCode(becomes)}`,
        );
      return `| ${inCell(reason ?? "**not judged**")} | ${places.join("<br>")} |`;
    }),
    "",
  ];
}

function count(mutants: readonly ReportedMutant[], statuses: ReadonlySet<string>): number {
  return mutants.filter(({ status }) => statuses.has(status)).length;
}

function scoreOf(mutants: readonly ReportedMutant[]): number {
  const killed = count(mutants, noticed);
  const all = killed + count(mutants, unnoticed);
  return all === 0 ? 100 : (killed / all) * 100;
}

/** Lines and columns of the report count from one. */
function textAt(source: string, { start, end }: ReportedMutant["location"]): string {
  const lines = source.split("\n").slice(start.line - 1, end.line);
  lines[lines.length - 1] = (lines.at(-1) ?? "").slice(0, end.column - 1);
  lines[0] = (lines[0] ?? "").slice(start.column - 1);
  return lines.join("\n");
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

function asCode(flat: string): string {
  return `\`${inCell(flat.length <= 70 ? flat : `${flat.slice(0, 67)}...`).replaceAll("`", "'")}\``;
}

function inCell(text: string): string {
  return text.replaceAll("|", "\\|");
}
