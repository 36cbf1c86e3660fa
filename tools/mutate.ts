// Mutation testing of the parts on which everything leans: gates, ledgers and the loop (`npm run mutate -- [part or file...]`).
// The results of each part are kept in results/mutation and used again where neither the code nor its tests changed (`--force` runs
// all of it); the page in docs/evidence is written from them, by `--page-only` without running anything. `--sample 0.1` runs a tenth of
// the mutants, which the seed chooses, into results and a page of their own.
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, availableParallelism, cpus, platform, release, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Stryker } from "@stryker-mutator/core";
import { mutationPage, type MutationFindings, type MutationReport } from "./mutation-page.ts";
import { root, runCommand } from "./run-command.ts";

interface Part {
  readonly mutate: readonly string[];
  /** Those that speak of the part: who survives them is not asked by all the others. */
  readonly tests: readonly string[];
}

const agent = "packages/runtime/src/agent";
const state = "packages/runtime/src/state";
const test = "packages/runtime/test";
/** Of the tests in which runs die, those that start no process. */
const dying = `${test}/crash/{resuming,unknown-writes,definition-drift,losing-the-lease,hooks,structured-output}.test.ts`;
const gates = [
  `${agent}/features/questions/*.ts`,
  `${agent}/loop/{pass-gates,loop-guard,entrance-gates,tool-call-limit-gate}.ts`,
  `${agent}/features/*/*-gate.ts`,
  `${agent}/turn/{call-key,pending-call}.ts`,
];
const toolCallLedger = `${agent}/loop/{tool-call-ledger,resolve-unknown}.ts`;
const parts: Readonly<Record<string, Part>> = {
  "gates": { mutate: gates, tests: [`${test}/agent/*.test.ts`, `${agent}/{loop,features}/**/*.test.ts`, dying] },
  "tool-call-ledger": { mutate: [toolCallLedger], tests: [`${test}/agent/{tools,approvals,hooks}.test.ts`, dying] },
  "budget-ledger": {
    mutate: [`${state}/memory/memory-budget-*.ts`, `${state}/kit/budget-*.ts`, `${state}/kit/recent-settlements.ts`],
    tests: [`${state}/{memory,kit}/*budget-*.test.ts`, `${state}/budget-*.test.ts`],
  },
  "loop": {
    mutate: [`${agent}/{loop,turn}/*.ts`, `${agent}/features/compaction/*.ts`, ...[...gates, toolCallLedger].map((file) => `!${file}`)],
    tests: [
      `${test}/agent/*.test.ts`,
      `${agent}/**/*.test.ts`,
      dying,
      `${test}/wires/circuit-breaker.test.ts`,
      `${test}/model-based/*.test.ts`,
    ],
  },
};
/** Of all mutants, this part at least must be noticed by a test. */
const LEAST_SCORE = 75;
/** A run and its report are repeatable: the tests that draw do so from this. */
const seed = process.env["KEELSON_SEED"] ?? "20261122";

const { values, positionals } = parseArgs({
  options: { "force": { type: "boolean", default: false }, "page-only": { type: "boolean", default: false }, "sample": { type: "string" } },
  allowPositionals: true,
});
const { sample } = values;
const pageName = sample === undefined ? "mutation" : "mutation-sample";
const folder = join(root, "results", pageName);
const commit = (await runCommand("git", ["rev-parse", "--short", "HEAD"])).output.trim();

function filesOf({ mutate }: Part): readonly string[] {
  return globSync(
    mutate.filter((pattern) => !pattern.startsWith("!")),
    { cwd: root, exclude: [...mutate.flatMap((pattern) => (pattern.startsWith("!") ? [pattern.slice(1)] : [])), "**/*.test.ts"] },
  ).sort();
}

/**
 * Those that lived and are evaluated when a file is loaded, and only then: which tests they meet is not known, so that Stryker
 * would take them for alive for good, whatever tests are written.
 */
function forgetStaticSurvivors(file: string): void {
  if (!existsSync(file)) return;
  const report = JSON.parse(readFileSync(file, "utf8")) as MutationReport;
  const kept = Object.entries(report.files).map(([path, { mutants, ...rest }]) => [
    path,
    { ...rest, mutants: mutants.filter((mutant) => mutant.status !== "Survived" || !mutant.static || (mutant.coveredBy?.length ?? 0) > 0) },
  ]);
  writeFileSync(file, JSON.stringify({ ...report, files: Object.fromEntries(kept) as MutationReport["files"] }));
}

/** Those that are not in a sample have failed its check. */
const isRun = ({ status }: { readonly status: string }): boolean => status !== "CompileError";

/** What is known of a part: of the mutants that were run. */
function reportOf(name: string): MutationReport {
  const { files } = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as MutationReport;
  const ran = Object.entries(files).map(([path, file]) => [path, { ...file, mutants: file.mutants.filter(isRun) }] as const);
  return { files: Object.fromEntries(ran.filter(([, { mutants }]) => mutants.length > 0)) };
}

async function run(name: string, part: Part, mutate: readonly string[]): Promise<void> {
  // Not as Stryker's testFiles: with these it never activates the mutants that are evaluated when a file is loaded, and they live.
  process.env["KEELSON_MUTATION_TESTS"] = JSON.stringify(part.tests);
  const incrementalFile = join(folder, `${name}.json`);
  forgetStaticSurvivors(incrementalFile);
  // Code that also ran between tests counts as static, and a static mutant meets every test: a third of them do, for hours. So first
  // each meets the tests that reach it; the few that are evaluated when a file is loaded, and only then, meet all of them afterwards.
  for (const onlyReaching of [true, false]) {
    await new Stryker({
      mutate: [...mutate],
      plugins: [import.meta.resolve("@stryker-mutator/vitest-runner"), join(import.meta.dirname, "mutation-sample.ts")],
      ...(sample !== undefined && { checkers: ["sample"] }),
      testRunner: "vitest",
      vitest: { configFile: "tools/mutation.config.ts", related: false },
      coverageAnalysis: "perTest",
      concurrency: 1,
      ignoreStatic: onlyReaching,
      incremental: true,
      incrementalFile,
      force: values.force && onlyReaching,
      tempDirName: "results/mutation-sandbox",
      ignorePatterns: ["dist", "bench", "examples", "results", "coverage", ".git"],
      reporters: ["clear-text", "progress-append-only"],
      clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false, reportTests: false, reportMutants: false },
      // A machine that is busy with something else is slow, not caught in a loop.
      timeoutMS: 20_000,
      timeoutFactor: 3,
      dryRunTimeoutMinutes: 15,
      allowEmpty: true,
    }).runMutationTest();
  }
  writeFileSync(join(folder, `${name}.commit`), commit);
}

if (!values["page-only"]) {
  process.chdir(root);
  mkdirSync(folder, { recursive: true });
  Object.assign(process.env, { KEELSON_SEED: seed, KEELSON_TIER: "test", KEELSON_MUTATION_SAMPLE: sample });
  const unknown = positionals.filter((chosen) => parts[chosen] === undefined && !existsSync(join(root, chosen)));
  if (unknown.length > 0)
    throw new Error(`no part or file is called ${unknown.join(", ")}: use ${Object.keys(parts).join(", ")} or a path`);
  for (const [name, part] of Object.entries(parts)) {
    const files = filesOf(part);
    const chosen = positionals.length === 0 || positionals.includes(name) ? files : files.filter((file) => positionals.includes(file));
    if (chosen.length > 0) await run(name, part, chosen);
  }
}

const findings = JSON.parse(readFileSync(join(root, "tools", "mutation-findings.json"), "utf8")) as MutationFindings;
const day = new Date().toISOString().slice(0, 10);
const page = mutationPage({
  parts: Object.keys(parts)
    .filter((name) => existsSync(join(folder, `${name}.json`)))
    .map((name) => ({
      name,
      commit: readFileSync(join(folder, `${name}.commit`), "utf8"),
      report: reportOf(name),
    })),
  findings,
  day,
  seed,
  sample,
  machine: `${availableParallelism()} x ${cpus()[0]?.model.trim() ?? arch()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${platform()} ${release()}, Node ${process.version}`,
  wanted: Object.values(parts).flatMap(filesOf),
});
mkdirSync(join(root, "docs", "evidence"), { recursive: true });
writeFileSync(join(root, "docs", "evidence", `${pageName}-${day}.md`), page.text);
console.log(
  `wrote docs/evidence/${pageName}-${day}.md: ${page.score.toFixed(1)} % of the mutants were noticed, ${page.unexplained} survivors are unexplained`,
);
if (page.score < LEAST_SCORE) {
  console.error(`mutation: at least ${LEAST_SCORE} % must be noticed`);
  process.exitCode = 1;
}
