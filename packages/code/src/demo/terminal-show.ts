import { EventEmitter } from "node:events";
import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { usd } from "@keelson/protocol";
import type { CommandHost } from "../core/command-host.ts";
import type { Launch } from "../core/launch.ts";
import { openStores } from "../core/stores.ts";
import type { SessionPlanner } from "../modes/session-plan.ts";
import { createStyle, wantsColors } from "../text/style.ts";
import { printable, printableLine } from "../text/printable.ts";
import { trustAll } from "../trust/project-trust.ts";
import type { DemoModel } from "./demo-model.ts";
import { directShow } from "./direct-show.ts";
import { changedFiles, copyProject } from "./project-copy.ts";
import { createSharedKeyboard } from "./shared-keyboard.ts";
import { createShowCues } from "./show-cues.ts";
import { closingLines, openingLines } from "./show-lines.ts";
import type { ShowPace } from "./show-pace.ts";

export interface TerminalShowOptions extends Pick<DemoModel, "models" | "secrets" | "model"> {
  /** The project that the agent repairs. */
  readonly project: string;
  readonly pace: ShowPace;
  /** The reason why a script plays the model. */
  readonly reason: string;
}

const FAILED = 1;
const ABORTED = 130;
const HUNG_UP = 129;
const BUDGET_USD = "1";
const MAX_TURNS = 40;
const TEST_RULES = [{ pattern: "bash(node --test*)", behavior: "allow" }] as const;
/** The time that a run has to end when the person leaves. */
const LEAVE_MS = 2_500;
const LEFT = "You left the demo.";
const DEFAULT_COLUMNS = 80;
const MIN_COLUMNS = 20;

/**
 * A conversation of `keelson` in which the demo types, and the person may answer. It works in a temporary folder, of which nothing is left.
 * @returns 0 at the end, and if the person left
 */
export async function showInTerminal(options: TerminalShowOptions, host: CommandHost): Promise<number> {
  const { stdout, environment, command } = host;
  const { project, pace, reason } = options;
  const style = createStyle(wantsColors(stdout, environment));
  const columns = (): number => Math.max(MIN_COLUMNS, (stdout.columns ?? DEFAULT_COLUMNS) - 1);
  const say = (lines: readonly string[]): void => void stdout.write(`${lines.join("\n")}\n`);

  const folder = await copyProject(project, "shared-tab");
  const root = dirname(folder);
  const signals = new EventEmitter();
  const cues = createShowCues();
  const left = new AbortController();
  /** True if the conversation can be asked to end. */
  let isOpen = false;
  let giveUp: NodeJS.Timeout | undefined;

  function exitNow(code: number): void {
    rmSync(root, { recursive: true, force: true });
    host.exit(code);
  }
  // The terminal is gone: nothing can be shown any more.
  const onHangUp = (): void => exitNow(HUNG_UP);

  function sayGoodbye(words: string): void {
    const summary = `${words} Its copy of the project is removed; nothing is left on your disk.`;
    say(closingLines({ style, columns: columns(), summary, scripted: true, command: command.replace(/ --$/, "") }));
  }

  /** Ends the conversation with the run that is under way, and the process if that takes long or is asked for again. */
  function leave(): void {
    if (left.signal.aborted) return exitNow(ABORTED);
    left.abort(new Error("the person left"));
    if (!isOpen) {
      sayGoodbye(LEFT);
      return exitNow(0);
    }
    pace.skip();
    giveUp = setTimeout(() => exitNow(ABORTED), LEAVE_MS);
    signals.emit("SIGTERM");
    if (cues.isAtWork) signals.emit("SIGINT");
  }

  const keyboard = createSharedKeyboard({ person: host.stdin, isAsked: () => cues.isAsked, onSkip: pace.skip, onLeave: leave });
  host.signals.on("SIGINT", leave);
  host.signals.on("SIGTERM", leave);
  host.signals.on("SIGHUP", onHangUp);
  void keyboard.ready.then(() => (isOpen = true));
  let isLeft = false;
  let failure: unknown;
  try {
    say(openingLines({ style, columns: columns(), reason: printableLine(reason) }));
    const directed = directShow({
      ...{ keyboard, cues, pace, signal: left.signal },
      isChanged: async () => (await changedFiles(project, folder)).length > 0,
    }).catch((error: unknown) => {
      if (left.signal.aborted) return;
      failure = error;
      leave();
    });
    await converseIn(folder, options, { ...host, stdin: keyboard.input, signals, exit: exitNow }, cues);
    isLeft = left.signal.aborted;
    // The conversation may end without the director, if the terminal went away.
    left.abort(new Error("the conversation is over"));
    pace.skip();
    await directed;
  } finally {
    clearTimeout(giveUp);
    keyboard.close();
    host.signals.off("SIGINT", leave);
    host.signals.off("SIGTERM", leave);
    host.signals.off("SIGHUP", onHangUp);
    await rm(root, { recursive: true, force: true });
  }
  if (failure !== undefined) {
    host.stderr.write(`${printable(failure instanceof Error ? failure.message : String(failure))}\n`);
    return FAILED;
  }
  sayGoodbye(isLeft ? LEFT : "That was keelson.");
  return 0;
}

/** Opens the conversation of `keelson` in a folder. Settings and sessions are those of an empty home folder beside it. */
async function converseIn(
  folder: string,
  { models, secrets, model }: TerminalShowOptions,
  given: CommandHost,
  watcher: ReturnType<typeof createShowCues>,
): Promise<void> {
  const person = join(dirname(folder), "person");
  const environment = { ...given.environment, HOME: person, USERPROFILE: person, KEELSON_HOME: join(person, ".keelson") };
  const host: CommandHost = { ...given, environment };
  await using stores = await openStores(environment);
  // The demo is to ask before an edit everywhere; in a sandbox, which not every system can make, edits ask no question.
  const agent = {
    model,
    permissionMode: "default",
    sandbox: false,
    maxTurns: MAX_TURNS,
    maxCost: usd(BUDGET_USD),
    rules: TEST_RULES,
  } as const;
  const launch: Launch = { cwd: folder, agent, inSandbox: false };
  const plan = { launch, projectRules: [], notices: [], trust: trustAll(folder), resume: false };
  // The editor of the terminal is a tenth of a second of imports, which the opening lines do not need.
  const { converse } = await import("../modes/interactive.ts");
  const terminal = { theme: undefined, notifications: "off", screenReader: false } as const;
  await converse({ stores, models, secrets, plan, planner: ONE_SESSION, terminal, task: undefined, watcher, isKept: false }, host);
}

const ONE_SESSION: SessionPlanner = {
  plan: () => Promise.reject(new Error("The demo has one session. Start keelson itself to open others.")),
  findings: () => Promise.resolve([]),
};
