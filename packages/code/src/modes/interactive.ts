import type { SessionId } from "@keelson/protocol";
import type { ModelRegistry } from "keelson/providers";
import { type Policy, redactExecutor } from "keelson/security";
import { createCodingExecutor } from "../core/coding-executor.ts";
import { createCodingRunner } from "../core/coding-runner.ts";
import { createFileHistory, rewoundText } from "../history/index.ts";
import { readHistory, writeHistory } from "../core/history.ts";
import type { KnownSecrets } from "../core/known-secrets.ts";
import { type Launch, launchToMetadata } from "../core/launch.ts";
import { listSessions } from "../core/listed-session.ts";
import { resumeCost } from "../core/resume-cost.ts";
import { newSession } from "../core/new-session.ts";
import { folderTags } from "../core/session-folder.ts";
import { workingFolders } from "../core/working-folders.ts";
import { allowInProject, type ProjectRule, readProjectRules } from "../core/project-rules.ts";
import type { CommandHost } from "../core/command-host.ts";
import type { Stores } from "../core/stores.ts";
import { createPromptCompletions } from "../editor/completions/prompt-completions.ts";
import { instructionStretches } from "../instructions/index.ts";
import { contextLines } from "../render/context-lines.ts";
import { formatCost, formatTokens } from "../render/figures.ts";
import { createLiveScreen } from "../terminal/live-screen.ts";
import { printableLine } from "../text/printable.ts";
import { projectRuleLines } from "../render/project-rule-lines.ts";
import { resumeCostLine } from "../render/resume-cost-line.ts";
import { sessionLines, transcriptLines } from "../render/session-lines.ts";
import { createStyle, wantsColors } from "../text/style.ts";
import { leftOutLine, trustLines } from "../render/trust-lines.ts";
import { serversOfRuns } from "../servers/servers-of-runs.ts";
import type { ProjectItem } from "../trust/project-item.ts";
import { type ProjectTrust, trustItems } from "../trust/project-trust.ts";
import { openTrustedProject } from "../trust/trusted-project.ts";
import { undoCommands } from "../slash-commands/undo-commands.ts";
import { sessionCommands, type Topic } from "../slash-commands/session-commands.ts";
import { createSlashCommandTable } from "../slash-commands/slash-command-table.ts";
import { markdownCommands } from "../slash-commands/find-markdown-commands.ts";
import { userHome } from "../settings/settings-places.ts";
import { createConversation } from "./conversation.ts";
import { createPersonInput } from "./person-input.ts";
import { showInput } from "./show-input.ts";

export interface ConverseOptions {
  readonly stores: Stores;
  readonly models: ModelRegistry;
  readonly secrets: KnownSecrets;
  readonly launch: Launch;
  readonly policy?: Policy | undefined;
  readonly projectRules: readonly ProjectRule[];
  /** Shown once, at the start. */
  readonly notices: readonly string[];
  /** What of the project is used. */
  readonly trust: ProjectTrust;
  /** The session to go on with; a new one otherwise. */
  readonly session: SessionId | undefined;
  /** It has a run that is not finished. */
  readonly resume: boolean;
  readonly task: string | undefined;
}

// A person may go for lunch; after that the run suspends, and anybody can decide and resume it.
const APPROVAL_WAIT_MS = 60 * 60 * 1_000;
const SHOWN_MESSAGES = 6;

/** A conversation in a terminal. @returns the exit code */
export async function converse(
  { stores, models, secrets, launch, policy, projectRules, notices, trust, session: known, resume, task }: ConverseOptions,
  host: CommandHost,
): Promise<number> {
  const { stdin, stdout, environment, command } = host;
  /** What the project brings and nobody trusts, by path, as it was when it was left out. */
  const leftOut = new Map<string, ProjectItem>();
  let tellLeftOut = (_item: ProjectItem): void => {};
  const problems: string[] = [];
  const project = await openTrustedProject(trust, {
    policy,
    secrets,
    home: stores.home,
    environment,
    onProblem: (message) => void problems.push(message),
    onLeftOut(item) {
      leftOut.set(item.path, item);
      tellLeftOut(item);
    },
  });
  await using servers = await serversOfRuns({
    launch,
    policy,
    home: stores.home,
    trust,
    environment,
    startupWaitMs: 0,
    onLeftOut: (item) => void leftOut.set(item.path, item),
    onProblem: (message) => void problems.push(message),
  });
  servers.start();
  const folders = { home: stores.home.path, userHome: userHome(environment), project: trust.project };
  const fileCommands = await markdownCommands(folders, trust, (item) => void leftOut.set(item.path, item));
  const { toolSources } = servers;
  const approvalWaitMs = APPROVAL_WAIT_MS;
  const history = createFileHistory({
    ...{ home: stores.home.path, cwd: launch.cwd, environment, now: host.now },
    folders: workingFolders(launch, project),
    onProblem: (message) => screen.block([style.yellow(`! ${printableLine(message)}`)]),
  });
  const runner = createCodingRunner({
    stores,
    models,
    secrets,
    launch,
    policy,
    projectRules,
    project,
    toolSources,
    approvalWaitMs,
    history,
  });
  // Made by the first message: who opens and leaves leaves nothing behind.
  let session = known;
  const style = createStyle(wantsColors(stdout, environment));
  const screen = createLiveScreen(stdout);
  const earlier = await readHistory(stores.home.history);
  const typed: string[] = [];
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();

  screen.block([
    `${style.bold("keelson")} ${style.dim(`· ${printableLine(launch.agent.model)} · ${launch.agent.permissionMode ?? policy?.permissions.mode ?? "default"}${launch.inSandbox === true ? " · sandbox" : " · no sandbox"} · ${printableLine(launch.cwd)}`)}`,
    style.dim(`${known === undefined ? "a new session" : `session ${known}`} · /help says what you can do`),
  ]);
  tellLeftOut = (item) => screen.block([style.yellow(`! ${leftOutLine([item], "/trust")}`)]);
  if (leftOut.size > 0) screen.block([style.yellow(`! ${leftOutLine([...leftOut.values()], "/trust")}`)]);
  for (const notice of [...notices, ...problems]) screen.block([style.yellow(`! ${printableLine(notice)}`)]);
  if (known !== undefined) {
    const view = await runner.sessions.get(known);
    screen.block(["", ...transcriptLines(view.messages.slice(-SHOWN_MESSAGES), { style, columns: screen.columns })]);
    const cost = resumeCost(view, host.now(), models);
    if (cost !== undefined) screen.block([style.dim(resumeCostLine(cost))]);
  }

  /** Sent to the agent with the next message, because its files are not as it left them. */
  const rewound: string[] = [];
  const undoing = undoCommands({
    history: () => history.project(),
    session: () => session,
    onFilesChanged: (paths, action) => void rewound.push(rewoundText(paths, action)),
  });
  const commands = createSlashCommandTable([...sessionCommands({ facts, trustLeftOut, compact }, undoing), ...fileCommands]);
  const ownFolders = workingFolders(launch, project);
  const ownExec = createCodingExecutor(launch.cwd, {
    ...{ sandbox: launch.inSandbox === true, policy, variables: project.settings.variables, folders: ownFolders, home: stores.home.path },
  });
  const redacted = redactExecutor(ownExec, secrets.redactor);
  const person = createPersonInput({
    ...{ stdin, screen, style, environment, history: earlier },
    cwd: () => launch.cwd,
    exec: () => redacted,
    completions: createPromptCompletions({
      commands,
      cwd: () => launch.cwd,
      folders: () => ownFolders,
      home: environment["HOME"],
      now: host.now,
    }),
    onChange: () => showInput(screen, input.part),
    onTyped: (text) => void typed.push(text),
    onMessage: (text) => conversation.message(text),
    onAnswer: (text) => conversation.answer(text),
    onInterrupt: () => conversation.interrupt(),
    onEscape: () => conversation.escape(),
    onEnd: () => conversation.end(),
    onKey() {},
    deliver: (text) => conversation.deliver(text),
  });
  const { input } = person;
  const conversation = createConversation({
    screen,
    style,
    model: launch.agent.model,
    host: {
      async start(text, model) {
        session ??= await newSession(runner, folderTags(launch.cwd, stores.home.path));
        history.mark(session);
        const content = await person.outgoing(text);
        const before = rewound.splice(0);
        const told =
          typeof content === "string"
            ? [...before, content].join("\n\n")
            : [...before.map((words) => ({ type: "text" as const, text: words })), ...content];
        const limits = { onBudget: launch.agent.onBudget ?? "ask" };
        return runner.run(told, { session, model, limits, metadata: launchToMetadata({ ...launch, agent: { ...launch.agent, model } }) });
      },
      async resume() {
        if (session === undefined) throw new Error("There is no session to go on with.");
        return runner.resume(session);
      },
      allowInProject: (rules) => allowInProject(stores.home, launch.cwd, rules, host.now()),
      command,
      now: host.now,
      giveUp: () => host.exit(130),
    },
    commands,
    input,
    quit: leave,
    queue: person.queue,
    outgoing: person.outgoing,
    giveBack: person.giveBack,
  });

  async function facts(topic: Topic): Promise<readonly string[]> {
    if (topic === "permissions") return projectRuleLines(await readProjectRules(stores.home, launch.cwd), command);
    if (topic === "sessions") {
      const listed = await listSessions(runner.sessions, launch.cwd);
      return listed.slice(0, 10).flatMap((one) => sessionLines(one, { style, columns: screen.columns, now: host.now() }));
    }
    if (session === undefined) return ["nothing yet: this session begins with your first message"];
    if (topic === "context") {
      const xray = await runner.xray(session, { request: "last", systemFiles: instructionStretches });
      return contextLines(xray, { style, columns: screen.columns });
    }
    const { metadata } = await runner.sessions.get(session);
    return [`${metadata.turnCount} turns · ${formatTokens(metadata.usage)} · ${formatCost(metadata.cost)}`];
  }

  async function compact(keep: string): Promise<readonly string[]> {
    if (session === undefined) return ["nothing yet: this session begins with your first message"];
    await runner.compact(session, keep === "" ? {} : { keep });
    return [`The conversation is shortened before the next turn${keep === "" ? "" : `; its summary keeps: ${printableLine(keep)}`}.`];
  }

  async function trustLeftOut(): Promise<readonly string[]> {
    const items = [...leftOut.values()];
    if (items.length === 0) return ["Nothing that this project brings is left out."];
    await trustItems(stores.home, trust.project, items, host.now());
    leftOut.clear();
    return [
      ...trustLines(items, { style }),
      "Trusted as shown: instructions from your next message on, hooks and servers from the next start.",
    ];
  }

  // In raw mode Ctrl-C comes as a key; once the input is closed, or from elsewhere, as a signal.
  const onInterrupt = (): void => conversation.interrupt();
  const onTerminate = (): void => conversation.end();
  host.signals.on("SIGINT", onInterrupt);
  host.signals.on("SIGTERM", onTerminate);
  // Whatever ends the process, the cursor comes back.
  const restore = (): void => screen.close();
  process.once("exit", restore);
  // Lines of a paste arrive as one.
  stdout.write("\u001b[?2004h");
  try {
    await history.recover().catch((error: unknown) => screen.block([style.yellow(`! ${printableLine(String(error))}`)]));
    input.message("› ");
    if (resume && known !== undefined) conversation.follow(await runner.resume(known)).catch(() => {});
    else if (task !== undefined) conversation.message(task);
    await left;
    await conversation.settled();
  } finally {
    await person.close();
    stdout.write("\u001b[?2004l");
    process.off("exit", restore);
    host.signals.off("SIGINT", onInterrupt);
    host.signals.off("SIGTERM", onTerminate);
    screen.close();
    await writeHistory(stores.home.history, [...typed.toReversed(), ...earlier]);
  }
  if (session !== undefined) stdout.write(`${style.dim(`go on with: ${command} -r ${session}`)}\n`);
  return 0;
}
