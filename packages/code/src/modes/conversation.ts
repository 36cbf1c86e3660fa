import type { AgentEvent, SessionId } from "@keelson/protocol";
import type { Run } from "keelson";
import { COMPACT_AT } from "../core/compaction.ts";
import type { RunTerms } from "../core/run-terms.ts";
import type { ChooseFrom } from "../pickers/choose-from.ts";
import { createContextWarning } from "../render/context-warning.ts";
import { createRunView } from "../render/run-view.ts";
import type { Prompt } from "../slash-commands/slash-command.ts";
import { parseSlashLine, type SlashLine } from "../slash-commands/parse-slash-line.ts";
import type { SlashCommandTable } from "../slash-commands/slash-command-table.ts";
import type { Screen } from "../terminal/screen.ts";
import { printable, printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";
import { createAsking } from "./asking.ts";
import type { Attention } from "./attention.ts";
import { decisionCommands, decisionLines } from "./decision-commands.ts";
import { createInterrupt, type InterruptKeys } from "./interrupts.ts";
import { switchedTerms } from "./run-settings.ts";
import { createRunSlot } from "./run-slot.ts";
import { createRunningCalls } from "./running-calls.ts";
import { createShownFailures } from "./shown-failures.ts";
import { createTermChanges } from "./term-changes.ts";
import type { TerminalInput } from "./terminal-input.ts";
import { watchRun } from "./watch-run.ts";

/** The session of a conversation. It is made by its first run, and may be replaced by another one. */
export interface ConversationSession {
  /** The terms of the next run. */
  readonly terms: RunTerms;
  /** @throws if they are impossible, such as a model without a key */
  change(terms: Partial<RunTerms>): void;
  start(text: string): Promise<Run<unknown>>;
  /** Resumes the run of the session, which waits. */
  resume(): Promise<Run<unknown>>;
  /** Keeps patterns of allow rules for later sessions in this project. */
  allowInProject(rules: readonly string[]): Promise<void>;
}

export interface ConversationOptions {
  readonly screen: Screen;
  readonly style: Style;
  /** Asked each time, because a command may replace it. */
  session(): ConversationSession;
  readonly commands: SlashCommandTable;
  readonly input: Pick<TerminalInput, "message" | "question" | "answer" | "clear">;
  /** How the person calls this program. */
  readonly command: string;
  /** Unix ms. */
  now(): number;
  /** Ends the process now: the third Ctrl-C. */
  giveUp(): void;
  /** The person wants to leave, and no run is open. */
  quit(): void;
  /** Shows lists to choose from. Absent: none can be shown here. */
  readonly choose?: ChooseFrom | undefined;
  /** True if a status line shows mode and figures. Default false. */
  readonly hasStatusLine?: boolean;
  /** Sees every event of a run, those of its children included, before it is shown. */
  readonly onEvent?: (event: AgentEvent) => void;
  readonly attention?: Attention;
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
  /** Goes to the next permission mode: Shift-Tab. */
  cycleMode(): void;
  /** Shows a run that is already under way. */
  follow(run: Run<unknown>): Promise<void>;
  /**
   * Replaces the session while no run is under way. Messages wait until it is done.
   * @param act returns the run that the other session has open, which is followed
   */
  replaceSession(act: () => Promise<Run<unknown> | undefined>): Promise<void>;
  /** Resolves when no run is open. */
  settled(): Promise<void>;
}

const PROMPT = "› ";

export function createConversation(options: ConversationOptions): Conversation {
  const { screen, style, session, commands, input, command, now, giveUp, quit, choose, hasStatusLine = false } = options;
  const { onEvent = () => {}, attention } = options;
  let interruptKeys: InterruptKeys | undefined;
  /** The end of the run was shown: what is said now is for the next one. */
  let over = false;
  /** The run of the session waits for a decision: the next message resumes it first. */
  let waiting = false;
  let stopping = false;
  let leaving = false;
  let warned = false;
  let following: Promise<void> = Promise.resolve();
  /** The session is being replaced. */
  let replacing: Promise<void> | undefined;

  const say = (...lines: readonly string[]): void => screen.block(lines);
  const note = (text: string): void => say(style.yellow(`! ${text}`));
  const failures = createShownFailures({ screen, style });
  const failed = failures.show;
  const slot = createRunSlot();
  const onContext = createContextWarning(COMPACT_AT);
  const terms = createTermChanges({
    slot,
    terms: () => session().terms,
    change: (changed) => session().change(changed),
    say,
    failed,
    hasStatusLine,
  });
  const asking = createAsking({
    screen,
    style,
    input,
    prompt: PROMPT,
    allowInProject: (rules) => session().allowInProject(rules),
    failed,
    onAsked(request) {
      if (request !== undefined) attention?.waiting(printableLine(request.summary ?? `${request.operation} asks`));
      else if (slot.run !== undefined && !over) attention?.working();
    },
  });

  async function follow(followed: Run<unknown>): Promise<void> {
    slot.take(followed);
    attention?.working();
    const calls = createRunningCalls();
    interruptKeys = createInterrupt(followed, { note, failed, giveUp, finishing: () => calls.any() });
    const { model } = session().terms;
    const view = createRunView({
      screen,
      style,
      now,
      model,
      questions: false,
      onContext,
      figures: !hasStatusLine,
      failureLines: failures.lines,
    });
    asking.collect(followed).catch(failed);
    let ending = "error";
    try {
      await watchRun(seen(calls.following(asking.following(followed))), view, { live: true });
      const { waits = [], reason, error } = await followed.outcome;
      ending = reason;
      if (error !== undefined) failed(error);
      waiting = reason.startsWith("awaiting-");
      if (waiting) {
        say("", ...decisionLines(decisionCommands(command, followed.session as SessionId, waits)));
        if (!leaving) say(style.dim("or write your next message, which asks you here first"));
      }
    } catch (error) {
      failed(error);
    }
    screen.status(undefined);
    slot.release();
    over = false;
    stopping = false;
    interruptKeys = undefined;
    asking.clear();
    attention?.done(ending);
    if (leaving) quit();
  }

  async function* seen(events: AsyncIterable<AgentEvent>): AsyncIterable<AgentEvent> {
    for await (const event of events) {
      over ||= isEnd(event);
      const switched = switchedTerms(event);
      if (Object.keys(switched).length > 0) session().change(switched);
      onEvent(event);
      yield event;
    }
  }

  /** Sends a message. A run that waits is brought to its end first, with the questions that it has. */
  async function start(text: string): Promise<void> {
    if (waiting) await open(() => session().resume());
    if (waiting) return note("your message was not sent: the session still waits for the decision above");
    if (!leaving) await open(() => session().start(text));
  }

  async function open(begin: () => Promise<Run<unknown>>): Promise<void> {
    try {
      await slot.open(begin, follow);
    } catch (error) {
      failed(error);
      if (leaving) quit();
    }
  }

  async function slash({ name, argument }: SlashLine): Promise<void> {
    const found = commands.find(name);
    if (found === undefined) return say(style.yellow(`there is no /${printableLine(name)}; /help says what there is`));
    try {
      // A run whose end was shown takes a moment to leave its session.
      if (over) await following;
      const lines = await found.execute(argument, promptOf());
      if (lines && lines.length > 0) say(...lines);
    } catch (error) {
      failed(error);
    }
  }

  function promptOf(): Prompt {
    const { model, mode, effort } = session().terms;
    const { model: changeModel, mode: changeMode, effort: changeEffort } = terms;
    const { columns } = screen;
    const { lastAsked } = asking;
    const { run } = slot;
    const prompt = { columns, style, commands: commands.commands, model, mode, effort, lastAsked, run, send, leave: end };
    return { ...prompt, changeModel, changeMode, changeEffort, choose };
  }

  function send(text: string): void {
    if (replacing !== undefined) following = replacing.then(() => send(text));
    // A run that is over reads nothing, though it takes a moment to leave its session.
    else if (over) following = following.then(() => (leaving ? undefined : start(text)));
    else if (!slot.withRun((on) => void on.steer(text).catch(failed))) following = start(text);
  }

  /** Has the run end; a second time is left to who wants more than that. */
  function stop(): boolean {
    if (!stopping) stopping = slot.withRun(() => interruptKeys?.ctrlC());
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
      // The outcome of a run that is over says the same as its last event.
      if (!over) failures.clear();
      if (text.trim() === "") return;
      const [first = "", ...more] = printable(text).split("\n");
      say("", style.bold(`${PROMPT}${first}`), ...more.map((line) => style.bold(`  ${line}`)));
      const line = parseSlashLine(text);
      if (line === undefined) return send(text);
      void slash(line);
    },
    answer(text) {
      warned = false;
      failures.clear();
      asking.answer(text);
    },
    interrupt() {
      if (slot.withRun(() => interruptKeys?.ctrlC())) {
        stopping = true;
        // What is half edited must not stay in the line of somebody who gives up.
        asking.back();
        return;
      }
      if (input.clear()) return;
      if (warned) return quit();
      warned = true;
      say(style.dim("Ctrl-C again leaves (or /quit)"));
    },
    escape() {
      if (!asking.back() && slot.withRun(() => interruptKeys?.escape())) stopping = true;
    },
    end,
    cycleMode: () => terms.cycleMode(),
    follow(followed) {
      following = follow(followed);
      return following;
    },
    async replaceSession(act) {
      if (replacing !== undefined || slot.withRun(() => {})) throw new Error("The session is at work. Press Esc first, then try again.");
      const replaced = (async () => {
        const run = await act();
        waiting = false;
        asking.forget();
        if (run !== undefined) following = follow(run);
      })();
      const done = (): void => void (replacing = undefined);
      replacing = replaced.then(done, done);
      await replaced;
    },
    async settled() {
      let last: Promise<void> | undefined;
      while (last !== following) {
        last = following;
        await last;
      }
    },
  };
}

function isEnd({ type, path = [] }: AgentEvent): boolean {
  return path.length === 0 && (type === "run-complete" || type === "run-suspend" || type === "error" || type === "detached");
}
