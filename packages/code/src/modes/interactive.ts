import { basename } from "node:path";
import type { ModelRegistry } from "keelson/providers";
import type { CommandHost } from "../core/command-host.ts";
import { appendHistory, readHistory, trimHistory } from "../core/history.ts";
import type { KnownSecrets } from "../core/known-secrets.ts";
import { resumeCost } from "../core/resume-cost.ts";
import type { Stores } from "../core/stores.ts";
import { resumeCostLine } from "../render/resume-cost-line.ts";
import { transcriptLines } from "../render/session-lines.ts";
import { createStatusLine } from "../render/status-line.ts";
import { leftOutLine } from "../render/trust-lines.ts";
import type { TerminalSettings } from "../settings/terminal-settings.ts";
import { createSlashCommandTable, type SlashCommandTable } from "../slash-commands/slash-command-table.ts";
import { createNotifier } from "../terminal/notify.ts";
import { openScreen } from "../terminal/open-screen.ts";
import { enterTerminal, type TerminalModes } from "../terminal/terminal-modes.ts";
import { createTerminalTitle } from "../terminal/title.ts";
import { printableLine } from "../text/printable.ts";
import { createStyle, wantsColors } from "../text/style.ts";
import { conversationCommands } from "./conversation-commands.ts";
import { type ConversationWatcher, watchedAttention, watchedCommand } from "./conversation-watcher.ts";
import { createConversation } from "./conversation.ts";
import { openCurrentSession } from "./current-session.ts";
import { editFile } from "./edit-file.ts";
import type { OpenSession } from "./open-session.ts";
import { createPicking } from "./picking.ts";
import type { SessionPlan, SessionPlanner } from "./session-plan.ts";
import { createSessionStatus } from "./session-status.ts";
import { createPersonInput } from "./person-input.ts";
import { createPromptCompletions } from "../editor/completions/prompt-completions.ts";
import { workingFolders } from "../core/working-folders.ts";
import { tasksOf, watchTasks } from "../core/session-tasks.ts";
import { loadReading } from "../markdown/reading.ts";
import { textOfMessage } from "../render/describe-event.ts";
import { noticeLines } from "../render/notice-lines.ts";
import { createFoldedOutputs } from "../render/folded-outputs.ts";
import { PROMPT } from "../render/sent-lines.ts";
import { taskLines } from "../render/task-lines.ts";
import { createTaskPart } from "../render/task-part.ts";
import { askBackground } from "./ask-background.ts";
import { createAttention } from "./attention.ts";

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
  /** Receives the states of the conversation. Default: only the person sees them. */
  readonly watcher?: ConversationWatcher;
  /** False if the session ends with the conversation: then no command is shown that continues it. Default: true. */
  readonly isKept?: boolean;
}

const SHOWN_MESSAGES = 6;

/** A conversation in a terminal. @returns the exit code */
export async function converse(
  { stores, models, secrets, plan, planner, terminal, task, watcher, isKept = true }: ConverseOptions,
  host: CommandHost,
): Promise<number> {
  const { stdin, stdout, environment, command, now } = host;
  const { screenReader: isSpoken } = terminal;
  const colors = wantsColors(stdout, environment);
  const style = createStyle(colors && terminal.theme !== "none");
  const screen = openScreen(stdout, { environment, screenReader: isSpoken });
  const folds = createFoldedOutputs();
  const isAsked = terminal.theme === "auto" && style.colors && !isSpoken;
  const background = isAsked ? await askBackground({ input: stdin, write: (text) => stdout.write(text) }) : undefined;
  const reading = await loadReading({
    ...{ colors, environment, folds, setting: terminal.theme, background },
    onProblem: (message) => screen.block([style.dim(printableLine(message))]),
  });
  const title = createTerminalTitle(environment);
  const notifier = createNotifier({ environment, notifications: terminal.notifications });
  let tasks = watchTasks();
  const taskList = createTaskPart({ style, tasks: () => tasks.tasks });
  const earlier = await readHistory(stores.home.history);
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  const warn = (text: string): void => screen.block(noticeLines(text, { style, folds }));
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
    tasks = watchTasks();
    taskList.forget();
    if (id !== undefined) {
      const view = await session.runner.sessions.get(id);
      tasks = watchTasks(tasksOf(view));
      if (opened.resume && view.run?.permissionMode !== undefined) session.change({ mode: view.run.permissionMode });
      const shown = view.messages.slice(-SHOWN_MESSAGES);
      await reading.load(shown.map(textOfMessage));
      screen.finished(transcriptLines(shown, { style, columns: screen.columns, reading }));
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

  // A terminal that edits the lines itself must send keys and pastes as they are, and a dumb one would print the sequences.
  const enter = (): Pick<TerminalModes, "leave"> => (isSpoken ? { leave() {} } : enterTerminal(stdout, { process }));

  const refreshStatus = (): void => void status.refresh().catch((error: unknown) => warn(String(error)));

  const commands: SlashCommandTable = {
    get commands() {
      return table.commands;
    },
    find: (name) => watchedCommand(table.find(name), watcher),
  };
  let isOutside = false;
  /** Gives the terminal to a program until it ends. */
  async function outside<Result>(program: () => Promise<Result>): Promise<Result> {
    isOutside = true;
    screen.suspend();
    modes.leave();
    try {
      return await program();
    } finally {
      modes = enter();
      screen.resume();
      isOutside = false;
    }
  }

  /** Keeps a message for later conversations. A failure must not keep it from the agent. */
  function keepTyped(text: string): void {
    try {
      appendHistory(stores.home.history, text);
    } catch (error) {
      warn(`your message is not kept for Up and Ctrl-R of later conversations: ${String(error)}`);
    }
  }

  const person = createPersonInput({
    ...{ stdin, screen, style, environment, history: earlier },
    isSpoken,
    cwd: () => current.session.plan.launch.cwd,
    exec: () => current.session.exec,
    completions: createPromptCompletions({
      ...{ commands, now },
      cwd: () => current.session.plan.launch.cwd,
      folders: () => workingFolders(current.session.plan.launch, current.session.place.project),
      home: environment["HOME"],
    }),
    onChange: () => screen.changed({ soon: true }),
    onTyped: keepTyped,
    onOwnCommandEnd: () => status.readBranch(),
    onMessage: (text) => conversation.message(text, { isShown: isSpoken }),
    onAnswer: (text) => conversation.answer(text),
    onInterrupt: () => conversation.interrupt(),
    onEscape: () => conversation.escape(),
    onEnd: () => conversation.end(),
    onKey(action) {
      if (action === "mode") conversation.cycleMode();
      if (action === "tasks") showTasks();
      if (action === "open-output") conversation.message("/open");
      if (action === "redraw") screen.redraw();
    },
    deliver: (text) => conversation.deliver(text),
    onReport(report) {
      if (report === "\u001b[I" || report === "\u001b[O") notifier.focus(report === "\u001b[I");
    },
    outside,
  });
  const { input } = person;
  const picking = createPicking({
    ...{ screen, style, keys: input, input: person.part },
  });
  const conversation = createConversation({
    ...{ screen, style, reading, input, command, now },
    session: () => current.session,
    commands,
    attention: watchedAttention(
      createAttention({
        name: basename(plan.launch.cwd),
        setTitle: (text) => screen.control(title.set(text)),
        notify: (notification) => screen.control(notifier.notify(notification)),
        now,
      }),
      watcher,
    ),
    queue: person.queue,
    outgoing: person.outgoing,
    giveBack: person.giveBack,
    giveUp: () => host.exit(130),
    quit: leave,
    ...(!isSpoken && { choose: picking.choose }),
    hasStatusLine: !isSpoken,
    onEvent(event) {
      status.see(event);
      if (tasks.see(event)) screen.changed();
    },
  });

  /** Shows or hides the list of tasks; the command says why there is none. */
  function showTasks(): void {
    if (taskList.toggle()) screen.changed({ soon: true });
    else conversation.message("/tasks");
  }

  /** Lists the commands of the session that is open: those of files are of its folder. */
  function listCommands(): void {
    const own = conversationCommands({
      ...{ current, conversation, stores, models, planner, host, warn },
      tasks: (columns) => taskLines(tasks.tasks, { style, columns }),
      openOutput: (number) => folds.open(number)?.lines,
      replaced() {
        listCommands();
        refreshStatus();
      },
      editFile: (path) => editFile(path, { environment, outside: (program) => input.suspend(() => outside(program)) }),
    });
    table = createSlashCommandTable([...own, ...current.session.place.commands]);
  }

  // In raw mode Ctrl-C comes as a key; once the input is closed, or from elsewhere, as a signal.
  const onInterrupt = (): void => {
    // A signal is meant for the program that has the terminal, which gets it as well.
    if (!isOutside) person.interrupt();
  };
  const onTerminate = (): void => {
    picking.leave();
    conversation.end();
  };
  host.signals.on("SIGINT", onInterrupt);
  host.signals.on("SIGTERM", onTerminate);
  let modes = enter();
  try {
    listCommands();
    if (!isSpoken) {
      screen.part("activity", taskList.part);
      screen.part("status", createStatusLine({ style, facts: status.facts }));
    }
    screen.part("input", person.part);
    input.message(PROMPT);
    refreshStatus();
    if (plan.resume) conversation.follow(await current.session.resume()).catch(() => {});
    else if (task !== undefined) conversation.message(task);
    await left;
    await conversation.settled();
  } finally {
    picking.leave();
    await person.close();
    host.signals.off("SIGINT", onInterrupt);
    host.signals.off("SIGTERM", onTerminate);
    screen.control(title.restore());
    screen.close();
    modes.leave();
    await trimHistory(stores.home.history);
  }
  const { id } = current.session;
  if (id !== undefined && isKept) stdout.write(`${style.dim(`continue with: ${command} -r ${id}`)}\n`);
  return 0;
}
