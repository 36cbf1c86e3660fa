// Mutation testing of the parts on which everything leans: gates, ledgers and the loop (`npm run mutate -- [part or file...]`).
// Results are kept in results/mutation.json and used again where neither the code nor its tests changed (`--force` runs all of it);
// the page in docs/evidence is written from them.
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, availableParallelism, cpus, platform, release, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Stryker } from "@stryker-mutator/core";
import { mutationPage, type MutationFindings, type MutationReport } from "./mutation-page.ts";
import { root, runCommand } from "./run-command.ts";

const runtime = "packages/runtime/src";
const parts: Readonly<Record<string, readonly string[]>> = {
  "gates": [`${runtime}/agent/gates/*.ts`],
  "tool-call-ledger": [`${runtime}/agent/loop/tool-call-ledger.ts`],
  "budget-ledger": [
    `${runtime}/state/memory-budget-ledger.ts`,
    `${runtime}/state/budget-amounts.ts`,
    `${runtime}/state/budget-ledger-terms.ts`,
  ],
  "loop": [`${runtime}/agent/loop/*.ts`],
};
/** Of all mutants, this part at least must be noticed by a test. */
const LEAST_SCORE = 75;
/** A run and its report are repeatable: the tests that draw do so from this. */
const seed = process.env["KEELSON_SEED"] ?? "20261122";

const { values, positionals } = parseArgs({
  options: { "force": { type: "boolean", default: false }, "page-only": { type: "boolean", default: false } },
  allowPositionals: true,
});
const reportPath = join(root, "results", "mutation.json");

if (!values["page-only"]) {
  process.chdir(root);
  mkdirSync(join(root, "results"), { recursive: true });
  Object.assign(process.env, { KEELSON_SEED: seed, KEELSON_TIER: "test" });
  const chosen = positionals.length === 0 ? Object.keys(parts) : positionals;
  await new Stryker({
    mutate: [...chosen.flatMap((name) => parts[name] ?? [name]), "!**/*.test.ts", "!**/*.test-d.ts"],
    plugins: [import.meta.resolve("@stryker-mutator/vitest-runner")],
    testRunner: "vitest",
    vitest: { configFile: "tools/mutation.config.ts", related: false },
    coverageAnalysis: "perTest",
    concurrency: 1,
    incremental: true,
    incrementalFile: reportPath,
    force: values.force,
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

if (!existsSync(reportPath)) throw new Error("results/mutation.json does not exist: run `npm run mutate` without --page-only first");
const report = JSON.parse(readFileSync(reportPath, "utf8")) as MutationReport;
const findings = JSON.parse(readFileSync(join(root, "tools", "mutation-findings.json"), "utf8")) as MutationFindings;
const day = new Date().toISOString().slice(0, 10);
const commit = (await runCommand("git", ["rev-parse", "--short", "HEAD"])).output.trim();
const page = mutationPage({
  report,
  findings,
  day,
  commit,
  seed,
  machine: `${availableParallelism()} x ${cpus()[0]?.model.trim() ?? arch()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${platform()} ${release()}, Node ${process.version}`,
  wanted: [...new Set(Object.values(parts).flatMap((patterns) => globSync([...patterns], { cwd: root })))]
    .filter((file) => !/\.test(-d)?\.ts$/.test(file))
    .sort(),
});
mkdirSync(join(root, "docs", "evidence"), { recursive: true });
writeFileSync(join(root, "docs", "evidence", `mutation-${day}.md`), page.text);
console.log(
  `wrote docs/evidence/mutation-${day}.md: ${page.score.toFixed(1)} % of the mutants were noticed, ${page.unexplained} survivors are unexplained`,
);
if (page.score < LEAST_SCORE) {
  console.error(`mutation: at least ${LEAST_SCORE} % must be noticed`);
  process.exitCode = 1;
}
