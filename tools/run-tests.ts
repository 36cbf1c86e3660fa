// The tests of all packages in one of three tiers (`--tier test|ci|soak`, or KEELSON_TIER); other arguments go to vitest.
// The report of a whole run is kept in results/tests.json, where the checklist reads it; that of chosen files or of a soak stands beside it.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { arch, availableParallelism, cpus, platform, release, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root, runCommand, type CommandResult } from "./run-command.ts";
import { countFlakyFiles, MAX_FLAKY_FILES, rerunFailedFiles, type FlakyTest } from "./flaky-files.ts";
import { readTestReport, replaceFileResults } from "./test-report.ts";

const { values, tokens } = parseArgs({
  options: { tier: { type: "string", default: process.env["KEELSON_TIER"] ?? "test" } },
  allowPositionals: true,
  strict: false,
  tokens: true,
});
const tier = String(values.tier);
const forwarded = tokens.flatMap((token) => {
  if (token.kind === "option-terminator") return ["--"];
  if (token.kind === "positional") return [token.value];
  return token.name === "tier" ? [] : [token.rawName + (token.value === undefined ? "" : `=${token.value}`)];
});
const isWhole = forwarded.length === 0;
const seed = process.env["KEELSON_SEED"] ?? String(tier === "test" ? "" : Math.floor(Date.now() / 1000) % 2 ** 31);

mkdirSync(join(root, "results"), { recursive: true });
const reportPath = join(root, "results", `tests${isWhole ? "" : "-part"}${tier === "soak" ? "-soak" : ""}.json`);
const unhandledPath = join(root, "results", "unhandled-errors.json");
const flakyPath = join(root, "results", "flaky.json");
for (const path of [reportPath, unhandledPath, flakyPath]) rmSync(path, { force: true });

// The soak runs everything, also what `npm ci` leaves out.
if (tier === "soak" && isWhole) {
  for (const server of ["restate", "postgres"]) {
    const installed = await runCommand(join(root, "packages", server, "server", "install.sh"), [], { inherit: true });
    if (installed.code !== 0) throw new Error(`The server of ${server}, which the soak needs, could not be installed.`);
    process.env[`KEELSON_REQUIRE_${server.toUpperCase()}`] = "1";
  }
  const peers = await runCommand(join(root, "packages/runtime/test/mcp/peers/install.sh"), [], { inherit: true });
  if (peers.code !== 0)
    throw new Error("The clients and servers of others for the Model Context Protocol, which the soak needs, could not be installed.");
  process.env["KEELSON_REQUIRE_MCP_PEERS"] = "1";
  if (!existsSync("/usr/bin/chromium")) {
    const browser = await runCommand("apt-get", ["-qq", "install", "-y", "--no-install-recommends", "chromium"], { inherit: true });
    if (browser.code !== 0) throw new Error("Chromium, which the soak needs, could not be installed with apt-get: install it.");
  }
  process.env["KEELSON_REQUIRE_CHROMIUM"] = "1";
}

console.log(`tests: tier ${tier}${seed === "" ? "" : `, seed ${seed}`}`);
const { code, seconds } = await runVitest(reportPath, forwarded);
process.exitCode = code;
if (tier === "ci" && isWhole && code !== 0) process.exitCode = await judgeAgain();

/** Runs vitest and writes its report to `outputFile`. */
function runVitest(outputFile: string, args: readonly string[]): Promise<CommandResult> {
  return runCommand(
    process.execPath,
    [
      join("node_modules", "vitest", "vitest.mjs"),
      "run",
      "--typecheck",
      "--reporter=default",
      "--reporter=json",
      "--reporter=./tools/unhandled-errors-reporter.ts",
      `--outputFile.json=${outputFile}`,
      ...args,
    ],
    {
      inherit: true,
      env: { ...process.env, KEELSON_TIER: tier, KEELSON_UNHANDLED_ERRORS: unhandledPath, ...(seed !== "" && { KEELSON_SEED: seed }) },
    },
  );
}

/** Runs failed files once more, alone, and keeps those that pass then as flaky in results/flaky.json. Returns the exit code of the whole. */
async function judgeAgain(): Promise<number> {
  if (!existsSync(reportPath) || !existsSync(unhandledPath)) return code;
  const unhandled = JSON.parse(readFileSync(unhandledPath, "utf8")) as readonly string[];
  if (unhandled.length > 0) {
    console.log(`Errors that no test caught fail the run:\n${unhandled.map((error) => `- ${error}`).join("\n")}`);
    return code;
  }
  const partPath = join(root, "results", "tests-again.json");
  const { flaky, failedFiles } = await rerunFailedFiles(readTestReport(reportPath), async (file) => {
    console.log(`\n${file} failed; it runs once more, alone.`);
    const again = await runVitest(partPath, [file]);
    if (again.code === 0) replaceFileResults(reportPath, partPath);
    return again.code === 0;
  });
  writeFileSync(flakyPath, JSON.stringify(flaky.map((test): FlakyTest & { seed: string } => ({ ...test, seed }))));
  if (failedFiles.length > 0) return code;
  const count = countFlakyFiles(flaky);
  if (count > MAX_FLAKY_FILES) console.log(`${count} files are flaky; more than ${MAX_FLAKY_FILES} fail the run.`);
  return count > MAX_FLAKY_FILES ? 1 : 0;
}

if (tier === "soak" && isWhole) {
  const report = readTestReport(reportPath);
  const day = new Date().toISOString().slice(0, 10);
  const commit = (await runCommand("git", ["rev-parse", "--short", "HEAD"])).output.trim();
  const failures = report.tests.filter((test) => test.status === "failed").map((test) => `- ${test.file}: ${test.title}`);
  mkdirSync(join(root, "docs", "evidence"), { recursive: true });
  const path = join(root, "docs", "evidence", `soak-${day}.md`);
  writeFileSync(
    path,
    [
      `# Soak of ${day}`,
      "",
      `Commit ${commit}, seed ${seed}, ${Math.round(seconds)} s, ${report.passed} passed, ${report.failed} failed, ${report.skipped} skipped.`,
      `Machine: ${availableParallelism()} x ${cpus()[0]?.model.trim() ?? arch()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${platform()} ${release()}, Node ${process.version}.`,
      `Repeat it with \`KEELSON_SEED=${seed} npm run soak\`.`,
      "",
      ...(failures.length > 0 ? ["Failed:", "", ...failures, ""] : []),
    ].join("\n"),
  );
  console.log(`wrote ${path.slice(root.length + 1)} (${readFileSync(path).length} bytes)`);
}
