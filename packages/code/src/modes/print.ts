import { EXIT_CODES, isSuspendReason } from "@keelson/protocol";
import type { Run, RunOutcome } from "keelson";
import type { OutputFormat } from "../options/command-line.ts";
import type { LiveScreen } from "../terminal/live-screen.ts";
import { openScreen } from "../terminal/open-screen.ts";
import { createPlainScreen } from "../terminal/plain-screen.ts";
import { failureLines } from "../render/describe-event.ts";
import { printable } from "../text/printable.ts";
import { createRunView } from "../render/run-view.ts";
import { createStyle, wantsColors } from "../text/style.ts";
import type { OutputStream, CommandHost } from "../core/command-host.ts";
import { type ClaudeStreamOptions, createClaudeStream } from "./claude-stream.ts";
import { decisionCommands, decisionLines } from "./decision-commands.ts";
import { handleInterrupts, reportRejection } from "./interrupts.ts";
import { outcomeJson } from "./outcome-json.ts";
import { createRunningCalls, type RunningCalls } from "./running-calls.ts";
import { watchRun } from "./watch-run.ts";
import { withoutLastResponse } from "./without-last-response.ts";

export interface PrintOptions {
  readonly format: OutputFormat;
  readonly model: string;
  /** Facts that `claude-stream-json` begins with. */
  readonly claude?: Pick<ClaudeStreamOptions, "cwd" | "permissionMode" | "partialMessages">;
}

/**
 * Shows a run to a program or a reader, without asking anything. Standard output gets the response (or JSON), standard error
 * everything else.
 * @returns the exit code
 */
export async function printRun(run: Run<unknown>, options: PrintOptions, host: CommandHost): Promise<number> {
  const { format, model } = options;
  const { stdout, stderr, environment, signals, command } = host;
  const note = (text: string): void => void stderr.write(`keelson: ${text}\n`);
  const calls = createRunningCalls();
  const seen = seeAll(run, calls);
  using _interrupts = handleInterrupts(run, {
    signals,
    note,
    giveUp: () => host.exit(EXIT_CODES.aborted),
    finishing: () => calls.any(),
  });
  // A reader that went away (`| head`) wants no more.
  const onClosed = (error: NodeJS.ErrnoException): void => {
    if (error.code !== "EPIPE") throw error;
    reportRejection(run.abort("standard output was closed"), note);
  };
  stdout.on("error", onClosed);
  try {
    const outcome =
      format === "text"
        ? await printText(run, model, host)
        : format === "stream-json"
          ? await printEvents(run, host)
          : format === "claude-stream-json"
            ? await printClaudeStream(run, options, host)
            : await run.outcome;
    await seen;
    const commands = isSuspendReason(outcome.reason) ? decisionCommands(command, run.session, outcome.waits ?? []) : undefined;
    if (format === "json") stdout.write(`${outcomeJson(outcome, { id: run.id, session: run.session, model }, commands)}\n`);
    // What the text view shows anyway must not get lost in the other formats.
    if (format !== "text" && outcome.error !== undefined) note(outcome.error.message);
    if (format !== "text" && outcome.reason === "no-action" && outcome.why !== undefined) note(outcome.why);
    if (commands !== undefined) stderr.write(`${colored(decisionLines(commands), stderr, environment)}\n`);
    return EXIT_CODES[outcome.reason];
  } finally {
    stdout.off("error", onClosed);
  }
}

async function seeAll(run: Run<unknown>, calls: RunningCalls): Promise<void> {
  for await (const event of run.events()) calls.see(event);
}

/** The last response alone goes to standard output, so that whoever reads it has nothing to take away from it. */
async function printText(
  run: Run<unknown>,
  model: string,
  { stdout, stderr, environment, now }: CommandHost,
): Promise<RunOutcome<unknown>> {
  const live: LiveScreen | undefined = stdout.isTTY && stderr.isTTY ? openScreen(stderr, { environment }) : undefined;
  const style = createStyle(wantsColors(stderr, environment));
  const screen = live ?? createPlainScreen(stderr, stderr);
  const view = createRunView({ screen, style, now, model });
  const work = withoutLastResponse(run);
  let outcome: RunOutcome<unknown>;
  try {
    const last = await watchRun(work, view, { live: live !== undefined });
    outcome = await run.outcome;
    // A run that was lost, or never got hold of its session, has no event that says why.
    if (outcome.error !== undefined && last !== "error") screen.block(failureLines(outcome.error.failure, style));
  } finally {
    live?.close();
  }
  const said = work.lastResponse() ?? (outcome.reason === "complete" ? outcome.text : "");
  const response = printable(outcome.output === undefined ? said : JSON.stringify(outcome.output));
  if (response !== "") stdout.write(response.endsWith("\n") ? response : `${response}\n`);
  return outcome;
}

async function printEvents(run: Run<unknown>, { stdout }: CommandHost): Promise<RunOutcome<unknown>> {
  for await (const event of run) {
    // A slow reader slows this watcher, which the run does not wait for; it bounds what is kept for us.
    if (!stdout.write(`${JSON.stringify(event)}\n`)) await drained(stdout);
  }
  return run.outcome;
}

async function printClaudeStream(run: Run<unknown>, options: PrintOptions, { stdout, now }: CommandHost): Promise<RunOutcome<unknown>> {
  const begun = now();
  const { model, claude = { cwd: "", permissionMode: "default", partialMessages: false } } = options;
  const stream = createClaudeStream({ ...claude, model, session: run.session });
  const write = async (line: object): Promise<void> => {
    if (!stdout.write(`${JSON.stringify(line)}\n`)) await drained(stdout);
  };
  await write(stream.begin());
  for await (const event of run) for (const line of stream.lines(event)) await write(line);
  const outcome = await run.outcome;
  await write(stream.end(outcome, now() - begun));
  return outcome;
}

function drained(stream: OutputStream): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off("drain", done).off("close", done).off("error", done);
      resolve();
    };
    stream.on("drain", done).on("close", done).on("error", done);
  });
}

function colored(
  lines: readonly string[],
  stream: { readonly isTTY?: boolean },
  environment: { readonly [name: string]: string | undefined },
): string {
  const style = createStyle(wantsColors(stream, environment));
  return lines.map((line) => (line.startsWith("  ") ? style.cyan(line) : style.bold(line))).join("\n");
}
