import { AgentError, type AgentEvent, type ApprovalRequest, type Decision, type SessionId } from "@keelson/protocol";
import type { PendingApproval, Run, RunInput } from "keelson";
import { COMPACT_AT } from "../core/compaction.ts";
import { createContextWarning } from "../render/context-warning.ts";
import type { Screen } from "../terminal/screen.ts";
import type { Style } from "../text/style.ts";
import { createRunView } from "../render/run-view.ts";
import { failureLines } from "../render/describe-event.ts";
import { printable, printableLine } from "../text/printable.ts";
import { parseSlashLine, type SlashLine } from "../slash-commands/parse-slash-line.ts";
import type { SlashCommandTable } from "../slash-commands/slash-command-table.ts";
import { decisionCommands, decisionLines } from "./decision-commands.ts";
import { createInterrupt, type InterruptKeys } from "./interrupts.ts";
import type { MessageQueue } from "./message-queue.ts";
import { createOpenQuestions } from "./open-questions.ts";
import { createQuestionDialog } from "./question-dialog.ts";
import type { QuestionDialog } from "./question-steps.ts";
import { createRunningCalls } from "./running-calls.ts";
import type { TerminalInput } from "./terminal-input.ts";
import { watchRun } from "./watch-run.ts";

/** What a conversation needs from the process around it; the session is made by its first run. */
export interface ConversationHost {
  start(text: string, model: string): Promise<Run<unknown>>;
  /** Resumes the run of the session, which waits. */
  resume(): Promise<Run<unknown>>;
  /** Keeps patterns of allow rules for later sessions in this project. */
  allowInProject(rules: readonly string[]): Promise<void>;
  readonly command: string;
  now(): number;
  /** Ends the process now: the third Ctrl-C. */
  giveUp(): void;
}

export interface ConversationOptions {
  readonly screen: Screen;
  readonly style: Style;
  readonly host: ConversationHost;
  readonly commands: SlashCommandTable;
  readonly model: string;
  readonly input: Pick<TerminalInput, "message" | "question" | "answer" | "clear">;
  /** The person wants to leave, and no run is open. */
  quit(): void;
  /** Holds messages until the run can read them. Absent: they steer it immediately. */
  readonly queue?: Pick<MessageQueue, "send" | "following" | "takeAll">;
  /** Returns a message as the agent gets it. Default: as it was typed. */
  readonly outgoing?: (text: string) => Promise<RunInput>;
  /** Returns messages that the run did not read to the input. */
  readonly giveBack?: (texts: readonly string[]) => void;
}

/** What a person does in a terminal, turned into runs, answers and steering. */
export interface Conversation {
  /** A message or a command. */
  message(text: string): void;
  /** A line that was typed as an answer. */
  answer(text: string): void;
  interrupt(): void;
  /** Esc: leaves what is being answered, else ends what the agent does now, commands included. */
  escape(): void;
  end(): void;
  /** Sends a message that waited to the run that is under way, or begins one. */
  deliver(text: string): void;
  /** Shows a run that is already under way. */
  follow(run: Run<unknown>): Promise<void>;
  /** Resolves when no run is open. */
  settled(): Promise<void>;
}

const PROMPT = "› ";

export function createConversation(options: ConversationOptions): Conversation {
  const { screen, style, host, commands, model: firstModel, input, quit, queue, outgoing, giveBack = () => {} } = options;
  let model = firstModel;
  let run: Run<unknown> | undefined;
  let interruptKeys: InterruptKeys | undefined;
  /** The end of the run was shown: what is said now is for the next one. */
  let over = false;
  /** A run is being started: what is done to it until then. */
  let early: ((started: Run<unknown>) => void)[] | undefined;
  let dialog: { readonly token: string; readonly steps: QuestionDialog } | undefined;
  /** The question that was shown last. */
  let lastAsked: ApprovalRequest | undefined;
  /** The run of the session waits for a decision: the next message resumes it first. */
  let waiting = false;
  let stopping = false;
  let leaving = false;
  let warned = false;
  let following: Promise<void> = Promise.resolve();

  const say = (...lines: readonly string[]): void => screen.block(lines);
  const note = (text: string): void => say(style.yellow(`! ${text}`));
  const failed = (error: unknown): void => say(...failureLines(failureOf(error), style));

  const questions = createOpenQuestions(ask);
  const onContext = createContextWarning(COMPACT_AT);

  function ask(): void {
    const question = questions.current();
    if (question === undefined) {
      dialog = undefined;
      return input.message(PROMPT);
    }
    const { request } = question;
    if (dialog?.token === request.token) return;
    const steps = createQuestionDialog(request, {
      screen,
      style,
      input,
      decide(decision, holds) {
        questions.decided(question);
        record(question, decision, decision.type === "allow-always" && holds === "project" ? decision.rules : undefined).catch(failed);
      },
    });
    dialog = { token: request.token, steps };
    lastAsked = request;
    steps.open();
  }

  /** @param forProject rules to keep beyond this session */
  async function record(question: PendingApproval, decision: Decision, forProject: readonly string[] = []): Promise<void> {
    try {
      await question.decide(decision);
    } catch (error) {
      // A rule that fits no call, say: nothing was decided, and the run still waits.
      if (AgentError.is(error, "invalid-option")) questions.reopen(question);
      throw error;
    }
    if (forProject.length > 0) await host.allowInProject(forProject);
  }

  async function follow(followed: Run<unknown>): Promise<void> {
    run = followed;
    const calls = createRunningCalls();
    interruptKeys = createInterrupt(followed, { note, giveUp: host.giveUp, finishing: () => calls.any() });
    const view = createRunView({ screen, style, now: host.now, model, questions: false, onContext });
    questions.collect(followed).catch(failed);
    try {
      const shown = calls.following(questions.following(followed));
      const last = await watchRun(untilOver(queue === undefined ? shown : queue.following(shown)), view, { live: true });
      const { waits = [], reason, error } = await followed.outcome;
      if (error !== undefined && last !== "error") failed(error);
      waiting = reason.startsWith("awaiting-");
      if (waiting) {
        say("", ...decisionLines(decisionCommands(host.command, followed.session as SessionId, waits)));
        if (!leaving) say(style.dim("or write your next message, which asks you here first"));
      }
    } catch (error) {
      failed(error);
    }
    screen.status(undefined);
    run = undefined;
    over = false;
    const isStopped = stopping;
    stopping = false;
    interruptKeys = undefined;
    questions.clear();
    const unread = queue?.takeAll() ?? [];
    if (leaving) return quit();
    // A person who stopped the run decides again about what they had written for it.
    if (isStopped) giveBack(unread);
    else if (unread.length > 0) deliver(unread.join("\n\n"));
  }

  async function* untilOver(events: AsyncIterable<AgentEvent>): AsyncIterable<AgentEvent> {
    for await (const event of events) {
      over ||= isEnd(event);
      yield event;
    }
  }

  /** Sends a message. A run that waits is brought to its end first, with the questions that it has. */
  async function start(text: string): Promise<void> {
    if (waiting) await open(() => host.resume());
    if (waiting) return note("your message was not sent: the session still waits for the decision above");
    if (!leaving) await open(() => host.start(text, model));
  }

  async function open(begin: () => Promise<Run<unknown>>): Promise<void> {
    early = [];
    try {
      const started = await begin();
      const shown = follow(started);
      for (const act of early) act(started);
      early = undefined;
      await shown;
    } catch (error) {
      early = undefined;
      failed(error);
      if (leaving) quit();
    }
  }

  /** Acts on the run, also on one that is only being started. @returns whether there is one */
  function withRun(act: (on: Run<unknown>) => void): boolean {
    if (run !== undefined) act(run);
    else if (early !== undefined) early.push(act);
    else return false;
    return true;
  }

  function changeModel(name: string): void {
    const accepted = (): void => {
      model = name;
      say(`model: ${printableLine(name)}${run === undefined ? "" : " from the next turn"}`);
    };
    if (!withRun((on) => void on.setModel(name).then(accepted, failed))) accepted();
  }

  async function slash({ name, argument }: SlashLine): Promise<void> {
    const command = commands.find(name);
    if (command === undefined) return say(style.yellow(`there is no /${printableLine(name)}; /help says what there is`));
    const prompt = { columns: screen.columns, style, commands: commands.commands, model, lastAsked, run, changeModel, send, leave: end };
    try {
      const lines = await command.execute(argument, prompt);
      if (lines) say(...lines);
    } catch (error) {
      failed(error);
    }
  }

  function send(text: string): void {
    // A run that is over reads nothing, though it takes a moment to leave its session.
    if (over) following = following.then(() => (leaving ? undefined : start(text)));
    else if (!withRun((on) => void steer(on, text).catch(failed))) following = start(text);
  }

  /** Shows a message when it is sent: one that waits can still be edited. */
  function deliver(text: string): void {
    const [first = "", ...more] = printable(text).split("\n");
    say("", style.bold(`${PROMPT}${first}`), ...more.map((line) => style.bold(`  ${line}`)));
    const line = parseSlashLine(text);
    if (line === undefined) send(text);
    else void slash(line);
  }

  async function steer(on: Run<unknown>, text: string): Promise<void> {
    const content = outgoing === undefined ? text : await outgoing(text);
    await on.steer(typeof content === "string" ? content : { role: "user", content });
  }

  /** Has the run end; a second time is left to who wants more than that. */
  function stop(): boolean {
    if (!stopping) stopping = withRun(() => interruptKeys?.ctrlC());
    return stopping;
  }

  function end(): void {
    leaving = stop();
    if (!leaving) return quit();
    note("leaving when it has stopped; Ctrl-C aborts it");
  }

  return {
    message(text) {
      warned = false;
      if (text.trim() === "") return;
      const isWorking = !over && (run !== undefined || early !== undefined);
      if (queue !== undefined && isWorking && parseSlashLine(text) === undefined) queue.send(text);
      else deliver(text);
    },
    answer(text) {
      warned = false;
      dialog?.steps.answer(text);
    },
    interrupt() {
      if (withRun(() => interruptKeys?.ctrlC())) {
        stopping = true;
        // What is half edited must not stay in the line of somebody who gives up.
        dialog?.steps.back();
        return;
      }
      if (input.clear()) return;
      if (warned) return quit();
      warned = true;
      say(style.dim("Ctrl-C again leaves (or /quit)"));
    },
    escape() {
      if (dialog?.steps.back() !== true && withRun(() => interruptKeys?.escape())) stopping = true;
    },
    end,
    deliver,
    follow(followed) {
      following = follow(followed);
      return following;
    },
    settled: () => following,
  };
}

function isEnd({ type, path = [] }: AgentEvent): boolean {
  return path.length === 0 && (type === "run-complete" || type === "run-suspend" || type === "error" || type === "detached");
}

function failureOf(error: unknown): { readonly kind: string; readonly message: string } {
  const failure = (error as { failure?: { kind?: unknown; message?: unknown } } | undefined)?.failure;
  if (typeof failure?.kind === "string" && typeof failure.message === "string") return { kind: failure.kind, message: failure.message };
  return { kind: "error", message: error instanceof Error ? error.message : String(error) };
}
