import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Approver, EXIT_CODES, KeelsonError, usd } from "@keelson/protocol";
import { createCodingRunner } from "../core/coding-runner.ts";
import { trustAll } from "../trust/project-trust.ts";
import { openTrustedProject } from "../trust/trusted-project.ts";
import { homePath } from "../core/home.ts";
import { type Launch, launchToMetadata } from "../core/launch.ts";
import { newSession } from "../core/new-session.ts";
import { folderTag } from "../core/session-folder.ts";
import type { CommandHost } from "../core/command-host.ts";
import { openStores, type Stores } from "../core/stores.ts";
import { handleInterrupts } from "../modes/interrupts.ts";
import { createRunningCalls } from "../modes/running-calls.ts";
import { watchRun } from "../modes/watch-run.ts";
import { diffLines } from "../render/diff-lines.ts";
import { loadReading } from "../markdown/reading.ts";
import { createFoldedOutputs } from "../render/folded-outputs.ts";
import { openScreen } from "../terminal/open-screen.ts";
import { createPlainScreen } from "../terminal/plain-screen.ts";
import { figureWords } from "../render/run-footer.ts";
import { createRunView } from "../render/run-view.ts";
import { createStyle, wantsColors } from "../text/style.ts";
import type { DemoModel } from "./demo-model.ts";
import { changedFiles, copyProject } from "./project-copy.ts";
import { runProjectTests } from "./run-project-tests.ts";
import { closingLines, headingLine } from "./show-lines.ts";

export interface RepairStoryOptions extends DemoModel {
  /** The project to repair. */
  readonly project: string;
}

const TASK =
  "The tests of this project fail. Find the bugs in the code, fix them without changing any test, and show that the whole suite passes.";
const FAILED = 1;
const BUDGET_USD = "1";
const MAX_TURNS = 40;

/**
 * Prints line by line how the coding agent repairs a broken project: with real tools, real test runs and a real session; only the model
 * is a script where there is no key.
 * @returns 0 when the project's own tests pass at the end
 */
export async function printRepair(options: RepairStoryOptions, host: CommandHost): Promise<number> {
  const { project, models, secrets, model, scripted, reason } = options;
  const { stdout, environment, command, now } = host;
  const style = createStyle(wantsColors(stdout, environment));
  const live = stdout.isTTY === true ? openScreen(stdout, { environment }) : undefined;
  const screen = live ?? createPlainScreen(stdout, stdout);
  const reading =
    live && (await loadReading({ colors: style.colors, environment, folds: createFoldedOutputs(), setting: undefined, onProblem() {} }));
  const heading = (text: string): void => screen.block(["", headingLine(text, { style, columns: screen.columns })]);

  const folder = await copyProject(project, "shared-tab");
  await using stores = await openDemoStores(environment);
  const launch: Launch = {
    cwd: folder,
    agent: {
      model,
      permissionMode: "accept-edits",
      maxTurns: MAX_TURNS,
      maxCost: usd(BUDGET_USD),
      rules: ["bash(node --test*)", "bash(npm test*)"].map((pattern) => ({ pattern, behavior: "allow" })),
    },
  };
  const trusted = await openTrustedProject(trustAll(folder), {
    policy: undefined,
    secrets,
    home: stores.home,
    environment: {},
    onProblem() {},
    onLeftOut() {},
  });
  const runner = createCodingRunner({ stores, models, secrets, launch, project: trusted, approvals: onlyTests });
  const session = await newSession(runner, [folderTag(folder)]);

  heading("the project");
  const before = await runProjectTests(folder);
  screen.block([`${folder}`, `its tests: ${style.red(`${before.counts.failed} of ${before.counts.total} fail`)}`]);
  heading("the coding agent");
  screen.block([
    scripted
      ? style.yellow(
          `scripted model: ${reason}. The tools, the test runs and the session are real; set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or OLLAMA_HOST with a model of yours, for a real model.`,
        )
      : `model: ${model}`,
    style.bold(`› ${TASK}`),
    "",
  ]);

  const run = runner.run(TASK, { session, metadata: launchToMetadata(launch) });
  const calls = createRunningCalls();
  {
    using _interrupts = handleInterrupts(run, {
      signals: host.signals,
      note: (text) => screen.block([style.yellow(`! ${text}`)]),
      giveUp: () => host.exit(EXIT_CODES.aborted),
      finishing: () => calls.any(),
    });
    await watchRun(calls.following(run), createRunView({ screen, style, now, model, reading }), { live: live !== undefined });
  }
  const outcome = await run.outcome;
  const startedAt = (await runner.sessions.get(session)).metadata.createdAt;
  const durationMs = now() - startedAt;

  heading("what changed");
  const changes = await changedFiles(project, folder);
  if (changes.length === 0) screen.block(["nothing"]);
  for (const { path, before: old, after } of changes)
    screen.block([style.bold(path), ...diffLines(old, after, { style, columns: screen.columns, context: 2, numbers: true, path }), ""]);

  heading("the project's tests");
  const after = await runProjectTests(folder);
  screen.block([
    after.passed
      ? style.green(`✔ ${after.counts.passed} of ${after.counts.total} pass`)
      : style.red(`✗ ${after.counts.failed} of ${after.counts.total} fail`),
  ]);

  heading("the session");
  // The folder of the session, if a plain command would not find it.
  const home = stores.home.path === homePath({}) ? "" : `KEELSON_HOME=${stores.home.path} `;
  const figures = figureWords({ model, turns: outcome.turns, usage: outcome.usage, cost: outcome.cost, durationMs });
  screen.block([
    figures.join(" · "),
    ...(scripted ? [style.dim("(tokens and cost are estimated from the text: no model was called)")] : []),
    `look at it     ${style.cyan(`${home}${command} sessions show ${session}`)}`,
    `continue it  ${style.cyan(`${home}${command} -r ${session}`)}${scripted ? style.dim("  (with a key, and --model provider/id)") : ""}`,
    `the project    ${style.cyan(`cd ${folder}`)}`,
  ]);
  const summary = "That was keelson, line by line. In a terminal it is a conversation.";
  screen.block(closingLines({ style, columns: screen.columns, summary, scripted, command: command.replace(/ --$/, "") }));
  live?.close();
  if (EXIT_CODES[outcome.reason] !== 0) return EXIT_CODES[outcome.reason];
  return after.passed ? 0 : FAILED;
}

/** A demo must not fail for a home folder that cannot be written, as in some sandboxes. */
async function openDemoStores(environment: { readonly [name: string]: string | undefined }): Promise<Stores> {
  try {
    return await openStores(environment);
  } catch (error) {
    if (!(error instanceof KeelsonError)) throw error;
    return openStores({ ...environment, KEELSON_HOME: join(await mkdtemp(join(tmpdir(), "keelson-home-")), "home") });
  }
}

const onlyTests: Approver = () => ({
  type: "deny",
  by: "the demo",
  reason: "in this demo only `node --test` and `npm test` may be run; use the file tools for everything else",
});
