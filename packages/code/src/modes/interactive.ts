import type { ModelRegistry } from "keelson/providers";
import { COMPACT_AT } from "../core/compaction.ts";
import type { CommandHost } from "../core/command-host.ts";
import { readHistory, writeHistory } from "../core/history.ts";
import type { KnownSecrets } from "../core/known-secrets.ts";
import { resumeCost } from "../core/resume-cost.ts";
import type { Stores } from "../core/stores.ts";
import { resumeCostLine } from "../render/resume-cost-line.ts";
import { transcriptLines } from "../render/session-lines.ts";
import { createStatusLine } from "../render/status-line.ts";
import { leftOutLine } from "../render/trust-lines.ts";
import type { TerminalSettings } from "../settings/terminal-settings.ts";
import { createSlashCommandTable, type SlashCommandTable } from "../slash-commands/slash-command-table.ts";
import { createLiveScreen } from "../terminal/live-screen.ts";
import type { InputLine } from "../terminal/live-screen.ts";
import { printableLine } from "../text/printable.ts";
import { createStyle, wantsColors } from "../text/style.ts";
import { conversationCommands } from "./conversation-commands.ts";
import { createConversation } from "./conversation.ts";
import { openCurrentSession } from "./current-session.ts";
import { editFile } from "./edit-file.ts";
import { createLentKeys } from "./lent-keys.ts";
import type { OpenSession } from "./open-session.ts";
import { createPicking } from "./picking.ts";
import type { SessionPlan, SessionPlanner } from "./session-plan.ts";
import { createSessionStatus } from "./session-status.ts";
import { createTerminalInput } from "./terminal-input.ts";

export interface ConverseOptions {
  readonly stores: Stores;
  readonly models: ModelRegistry;
  readonly secrets: KnownSecrets;
  /** The session that is opened first. */
  readonly plan: SessionPlan;
  /** Plans the sessions that the person goes to later. */
  readonly planner: SessionPlanner;
  readonly terminal: TerminalSettings;
  readonly task: string | undefined;
}

const SHOWN_MESSAGES = 6;

/** A conversation in a terminal. @returns the exit code */
export async function converse(
  { stores, models, secrets, plan, planner, terminal, task }: ConverseOptions,
  host: CommandHost,
): Promise<number> {
  const { stdin, stdout, environment, command, now } = host;
  const style = createStyle(wantsColors(stdout, environment));
  const screen = createLiveScreen(stdout, { environment, process });
  const earlier = await readHistory(stores.home.history);
  const typed: string[] = [];
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  const warn = (text: string): void => screen.block([style.yellow(`! ${printableLine(text)}`)]);
  let table: SlashCommandTable = createSlashCommandTable([]);

  /** Shows a session that is opened: what it is, what of the project is left out, and how it went last. */
  async function show(session: OpenSession): Promise<void> {
    const { id, terms, plan: opened, place } = session;
    const { launch, notices } = opened;
    const facts = [launch.agent.model, terms.mode, launch.inSandbox === true ? "sandbox" : "no sandbox", launch.cwd];
    screen.block([
      `${style.bold("keelson")} ${style.dim(`· ${facts.map(printableLine).join(" · ")}`)}`,
      style.dim(`${id === undefined ? "a new session" : `session ${id}`} · /help says what you can do`),
    ]);
    if (place.leftOut.size > 0) warn(leftOutLine([...place.leftOut.values()], "/trust"));
    for (const notice of [...notices, ...place.problems]) warn(notice);
    if (id !== undefined) {
      const view = await session.runner.sessions.get(id);
      screen.block(["", ...transcriptLines(view.messages.slice(-SHOWN_MESSAGES), { style, columns: screen.columns })]);
      const cost = resumeCost(view, now(), models);
      if (cost !== undefined) screen.block([style.dim(resumeCostLine(cost))]);
    }
    await place.history.recover().catch((error: unknown) => warn(String(error)));
  }

  await using current = await openCurrentSession(plan, {
    ...{ stores, models, secrets, planner, environment, now },
    onLeftOut: (item) => warn(leftOutLine([item], "/trust")),
    onProblem: warn,
    onOpened: show,
  });
  const status = createSessionStatus({
    source() {
      const { id, terms, plan: opened, runner } = current.session;
      return {
        ...{ terms, cwd: opened.launch.cwd, inSandbox: opened.launch.inSandbox === true },
        view: async () => (id === undefined ? undefined : runner.sessions.get(id)),
        jobs: current.jobs,
      };
    },
    models,
    changed: () => screen.changed(),
    onProblem: (error) => warn(`the status line is not up to date: ${String(error)}`),
  });

  const refreshStatus = (): void => void status.refresh().catch((error: unknown) => warn(String(error)));

  const keys = createLentKeys(stdin);
  let line: InputLine | undefined;
  const picking = createPicking({
    screen,
    style,
    keys,
    hideInput: () => screen.input(undefined),
    restoreInput: () => screen.input(line),
  });
  const input = createTerminalInput({
    input: keys.input,
    columns: screen.columns,
    history: earlier,
    draw(drawn) {
      line = drawn;
      if (!picking.isOpen()) screen.input(drawn);
    },
    onMessage(text) {
      if (text.trim() !== "") typed.push(text);
      conversation.message(text);
    },
    onAnswer: (text) => conversation.answer(text),
    onInterrupt: () => conversation.interrupt(),
    onEscape: () => conversation.escape(),
    onEnd: () => conversation.end(),
    onKey(action) {
      if (action === "mode") conversation.cycleMode();
      if (action === "tasks") conversation.message("/tasks");
      if (action === "open-output" && table.find("open") !== undefined) conversation.message("/open");
    },
  });
  const conversation = createConversation({
    ...{ screen, style, input, command, now },
    session: () => current.session,
    commands: {
      get commands() {
        return table.commands;
      },
      find: (name) => table.find(name),
    },
    giveUp: () => host.exit(130),
    quit: leave,
    ...(!terminal.screenReader && { choose: picking.choose }),
    hasStatusLine: !terminal.screenReader,
    onEvent: status.see,
  });

  /** Lists the commands of the session that is open: those of files are of its folder. */
  function listCommands(): void {
    const own = conversationCommands({
      ...{ current, conversation, stores, models, planner, host, warn },
      replaced() {
        listCommands();
        refreshStatus();
      },
      editFile: (path) => editFile(path, { environment, suspend: suspendTerminal }),
    });
    table = createSlashCommandTable([...own, ...current.session.place.commands]);
  }

  /** Gives the terminal to another program. @returns takes it back */
  function suspendTerminal(): () => void {
    screen.suspend();
    const readOn = keys.pause();
    stdin.setRawMode?.(false);
    return () => {
      stdin.setRawMode?.(true);
      readOn();
      screen.resume();
    };
  }

  // In raw mode Ctrl-C comes as a key; once the input is closed, or from elsewhere, as a signal.
  const onInterrupt = (): void => conversation.interrupt();
  const onTerminate = (): void => {
    picking.leave();
    conversation.end();
  };
  host.signals.on("SIGINT", onInterrupt);
  host.signals.on("SIGTERM", onTerminate);
  // Whatever ends the process, the cursor comes back.
  const restore = (): void => screen.close();
  process.once("exit", restore);
  // Lines of a paste arrive as one.
  stdout.write("\u001b[?2004h");
  try {
    listCommands();
    if (!terminal.screenReader) screen.part("status", createStatusLine({ style, compactAt: COMPACT_AT, facts: status.facts }));
    input.message("› ");
    refreshStatus();
    if (plan.resume) conversation.follow(await current.session.resume()).catch(() => {});
    else if (task !== undefined) conversation.message(task);
    await left;
    await conversation.settled();
  } finally {
    picking.leave();
    input.close();
    keys.close();
    stdout.write("\u001b[?2004l");
    process.off("exit", restore);
    host.signals.off("SIGINT", onInterrupt);
    host.signals.off("SIGTERM", onTerminate);
    screen.close();
    await writeHistory(stores.home.history, [...typed.toReversed(), ...earlier]);
  }
  const { id } = current.session;
  if (id !== undefined) stdout.write(`${style.dim(`go on with: ${command} -r ${id}`)}\n`);
  return 0;
}
