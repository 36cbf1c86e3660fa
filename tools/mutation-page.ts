interface Place {
  readonly line: number;
  readonly column: number;
}

export interface ReportedMutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Place; readonly end: Place };
}

/** What of the report of a mutation test is read. */
export interface MutationReport {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly ReportedMutant[] }>>;
}

/** What a person found out about survivors of one line of code. */
export interface Survivor {
  readonly file: string;
  /** The line on which the mutants begin, or a part of it. */
  readonly line: string;
  /** The replacement, where the line has other survivors as well. */
  readonly becomes?: string;
  /** Why no test can or should tell the difference. */
  readonly why: string;
}

/** A hole that mutation testing showed, and the test that was written for it. */
export interface ClosedHole {
  readonly file: string;
  readonly hole: string;
  readonly test: string;
}

export interface MutationFindings {
  readonly closed: readonly ClosedHole[];
  readonly living: readonly Survivor[];
}

interface Facts {
  readonly parts: readonly { readonly name: string; readonly commit: string; readonly report: MutationReport }[];
  readonly findings: MutationFindings;
  readonly day: string;
  readonly seed: string;
  readonly machine: string;
  /** Files that were to be mutated, whether or not the report speaks of them. */
  readonly wanted: readonly string[];
}

const noticed = new Set(["Killed", "Timeout"]);
const unnoticed = new Set(["Survived", "NoCoverage"]);

/** The page of evidence on a mutation test; `score` in percent, over all files. */
export function mutationPage({ parts, findings, day, seed, machine, wanted }: Facts): {
  readonly text: string;
  readonly score: number;
  readonly unexplained: number;
} {
  const files = parts.flatMap(({ report }) => Object.entries(report.files));
  const mutants = files.flatMap(([, file]) => file.mutants);
  const survivors = files.flatMap(([name, file]) =>
    file.mutants
      .filter((mutant) => unnoticed.has(mutant.status))
      .sort((a, b) => a.location.start.line - b.location.start.line || a.location.start.column - b.location.start.column)
      .map((mutant) => {
        const line = file.source.split("\n")[mutant.location.start.line - 1] ?? "";
        const becomes = mutant.replacement ?? "";
        const known = findings.living.find(
          (survivor) =>
            survivor.file === name && line.includes(survivor.line) && (survivor.becomes === undefined || survivor.becomes === becomes),
        );
        return { name, mutant, original: textAt(file.source, mutant.location), becomes, why: known?.why };
      }),
  );
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
    "Repeat it with `npm run mutate`, for one part with `npm run mutate -- gates` (tool-call-ledger, budget-ledger, loop, or a file).",
    "The tests are those of `tools/mutation.config.ts`: fast ones that speak of these parts, with a small sample of the model-based one.",
    "",
    "| file | mutants | killed | timed out | survived | not covered | score |",
    "|---|---|---|---|---|---|---|",
    ...files.map(([name, { mutants: own }]) => {
      const of = (status: string): number => count(own, new Set([status]));
      return `| ${name} | ${own.length} | ${of("Killed")} | ${of("Timeout")} | ${of("Survived")} | ${of("NoCoverage")} | ${scoreOf(own).toFixed(1)} % |`;
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
    ...(survivors.length === 0 ? ["None."] : ["| place | code | became | why it lives |", "|---|---|---|---|"]),
    ...survivors.map(
      ({ name, mutant, original, becomes, why }) =>
        `| ${name.replace(/^packages\/runtime\/src\//, "")}:${mutant.location.start.line} | ${asCode(original)} | ${asCode(becomes)} | ${inCell(why ?? "not looked at yet")}${mutant.status === "NoCoverage" ? " (not covered)" : ""} |`,
    ),
    "",
  ].join("\n");
  return { text, score: scoreOf(mutants), unexplained: survivors.filter(({ why }) => why === undefined).length };
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

function asCode(text: string): string {
  const flat = text.replaceAll(/\s+/g, " ");
  return `\`${inCell(flat.length <= 70 ? flat : `${flat.slice(0, 67)}...`).replaceAll("`", "'")}\``;
}

function inCell(text: string): string {
  return text.replaceAll("|", "\\|");
}
