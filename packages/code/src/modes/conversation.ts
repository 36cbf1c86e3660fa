import type { AgentEvent, SessionId } from "@keelson/protocol";
import type { Run, RunInput } from "keelson";
import type { ChooseFrom } from "../pickers/choose-from.ts";
import { createContextWarning } from "../render/context-warning.ts";
import { createRunView } from "../render/run-view.ts";
import { PROMPT, sentLines } from "../render/sent-lines.ts";
import { parseSlashLine } from "../slash-commands/parse-slash-line.ts";
import { BUSY } from "../slash-commands/switch-commands.ts";
import type { SlashCommandTable } from "../slash-commands/slash-command-table.ts";
import type { Reading } from "../markdown/reading.ts";
import type { Screen } from "../terminal/screen.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";
import { createAsking } from "./asking.ts";
import type { Attention } from "./attention.ts";
import type { ConversationSession } from "./conversation-session.ts";
import { decisionCommands, decisionLines } from "./decision-commands.ts";
import type { HeldMessages } from "./held-messages.ts";
import { createInterrupt, type InterruptKeys } from "./interrupts.ts";
import { switchedTerms } from "./run-settings.ts";
import { createRunSlot } from "./run-slot.ts";
import { createRunningCalls } from "./running-calls.ts";
import { createShownFailures } from "./shown-failures.ts";
import { createSlashLines } from "./slash-lines.ts";
import { createSteeredMessages } from "./steered-messages.ts";
import { createTermChanges } from "./term-changes.ts";
import type { TerminalInput } from "./terminal-input.ts";
import { watchRun } from "./watch-run.ts";

export interface ConversationOptions {
  readonly screen: Screen;
  readonly style: Style;
  /** Renders words and code. Default: they are shown as they were written. */
  readonly reading?: Reading | undefined;
  /** Asked each time, because a command may replace it. */
  session(): ConversationSession;
  readonly commands: SlashCommandTable;
  readonly input: Pick<TerminalInput, "message" | "question" | "answer" | "clear">;
  /** The name by which the person calls this program. */
  readonly command: string;
  /** Unix ms. */
  now(): number;
  /** Ends the process now: the third Ctrl-C. */
  giveUp(): void;
  /** The person wants to leave, and no run is open. */
  quit(): void;
  /** Shows lists to choose from. Absent: none can be shown here. */
  readonly choose?: ChooseFrom | undefined;
  /** True if a status line shows mode and figures, and the live region the list of tasks. Default false. */
  readonly hasStatusLine?: boolean;
  /** Sees every event of a run, those of its children included, before it is shown. */
  readonly onEvent?: (event: AgentEvent) => void;
  readonly attention?: Attention;
  /** Absent: a message steers the run immediately. */
  readonly queue?: HeldMessages;
  /** Returns a message as the agent gets it. Default: as it was typed. */
  readonly outgoing?: (text: string) => Promise<RunInput>;
  /** Returns messages that the run did not read to the input. */
  readonly giveBack?: (texts: readonly string[]) => void;
}

/** What a person does in a terminal, turned into runs, answers and steering. */
export interface Conversation {
  /**
   * A message or a command.
   * @param options.isShown true if the terminal shows the line where it was typed. Default false.
   */
  message(text: string, options?: { readonly isShown?: boolean }): void;
  /** A line that was typed as an answer. */
  answer(text: string): void;
  interrupt(): void;
  /** Esc: leaves what is being answered, else ends what the agent does now, commands included. */
  escape(): void;
  end(): void;
  /** Sends a message that waited to the run under way, or starts one. */
  deliver(text: string): void;
  /** Goes to the next permission mode: Shift-Tab. */
  cycleMode(): void;
  /** Shows a run that is already under way. */
  follow(run: Run<unknown>): Promise<void>;
  /**
   * Replaces the session while no run is under way. Messages wait until it is done.
   * @param act returns true if the other session has a run that is not finished: it is resumed, and followed
   */
  replaceSession(act: () => Promise<boolean>): Promise<void>;
  /** Resolves when no run is open. */
  settled(): Promise<void>;
}

export function createConversation(options: ConversationOptions): Conversation {
  const { screen, style, reading, session, commands, input, command, now, giveUp, quit, choose, hasStatusLine = false } = options;
  const { onEvent = () => {}, attention, queue, outgoing, giveBack = () => {} } = options;
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
  const steered = createSteeredMessages();
  const onContext = createContextWarning(() => session().compactAt());
  const terms = createTermChanges({
    slot,
    terms: () => session().terms,
    effortsOf: (model) => session().effortsOf(model),
    change: (changed) => session().change(changed),
    say,
    warn: note,
    failed,
    hasStatusLine,
  });
  const asking = createAsking({
    ...{ screen, style, reading, input },
    prompt: PROMPT,
    mode: () => session().terms.mode,
    // The event of the change is what the session learns it from.
    setMode: async (mode) => slot.run?.setPermissionMode(mode),
    allowInProject: (rules) => session().allowInProject(rules),
    failed,
    onAsked(request) {
      if (request !== undefined) attention?.waiting(printableLine(request.summary ?? `${request.operation} asks`));
      else if (slot.run !== undefined && !over) attention?.working();
    },
  });

  const execute = createSlashLines({
    ...{ screen, style, reading, commands, choose, send },
    changes: terms,
    terms: () => session().terms,
    run: () => slot.run,
    lastAsked: () => asking.lastAsked,
    leave: end,
  });

  async function follow(followed: Run<unknown>): Promise<void> {
    slot.take(followed);
    attention?.working();
    const calls = createRunningCalls();
    interruptKeys = createInterrupt(followed, { note, failed, giveUp, finishing: () => calls.any() });
    const { model } = session().terms;
    const shown = { questions: false, figures: !hasStatusLine, tasks: !hasStatusLine, failureLines: failures.lines };
    const view = createRunView({ ...{ screen, style, now, model, onContext, reading }, ...shown });
    asking.collect(followed).catch(failed);
    let ending = "error";
    try {
      const events = seen(calls.following(asking.following(followed)));
      const show = (event: AgentEvent): void => (steered.isShown(event) ? undefined : view.show(event));
      await watchRun(queue === undefined ? events : queue.following(events), { ...view, show }, { live: true });
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
    const isStopped = stopping;
    stopping = false;
    interruptKeys = undefined;
    asking.clear();
    attention?.done(ending);
    const unread = queue?.takeAll() ?? [];
    if (leaving) return quit();
    // A person who stopped the run decides again about what they had written for it.
    if (isStopped) giveBack(unread);
    else if (unread.length > 0) deliver(unread.join("\n\n"));
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
    if (!leaving) await open(async () => session().start(outgoing === undefined ? text : await outgoing(text)));
  }

  async function open(begin: () => Promise<Run<unknown>>): Promise<void> {
    try {
      await slot.open(begin, follow);
    } catch (error) {
      failed(error);
      stopping = false;
      giveBack(queue?.takeAll() ?? []);
      if (leaving) quit();
    }
  }

  function send(text: string): void {
    if (replacing !== undefined) following = replacing.then(() => send(text));
    // A run that is over reads nothing, though it takes a moment to leave its session.
    else if (over) following = following.then(() => (leaving ? undefined : start(text)));
    else if (!slot.withRun((on) => void steer(on, text).catch(failed))) following = start(text);
  }

  /** Shows a message when it is sent: one that waits can still be edited. */
  function deliver(text: string, isShown = false): void {
    if (!isShown) say("", ...sentLines(text, { style, folds: reading?.folds }), "");
    const line = parseSlashLine(text);
    if (line === undefined) return send(text);
    // A run whose end was shown takes a moment to leave its session.
    void (over ? following.then(() => execute(line)) : execute(line)).catch(failed);
  }

  async function steer(on: Run<unknown>, text: string): Promise<void> {
    const content = outgoing === undefined ? text : await outgoing(text);
    const message = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    steered.add({ role: "user", content: message });
    await on.steer(typeof content === "string" ? content : { role: "user", content });
  }

  /** Stops the run after its step. Later calls do nothing. @returns false if there is no run */
  function stop(): boolean {
    if (!stopping && slot.withRun(() => interruptKeys?.ctrlC())) noteStop();
    return stopping;
  }

  function noteStop(): void {
    stopping = true;
    queue?.hold();
  }

  function end(): void {
    leaving = stop();
    if (!leaving) return quit();
    note("leaving when the agent has stopped; Ctrl-C aborts the run");
  }

  return {
    message(text, { isShown = false } = {}) {
      warned = false;
      // The outcome of a run that is over says the same as its last event.
      if (!over) failures.clear();
      if (text.trim() === "") return;
      const waits = queue !== undefined && !over && parseSlashLine(text) === undefined && slot.withRun(() => {});
      if (waits) queue.send(text);
      else deliver(text, isShown);
    },
    answer(text) {
      warned = false;
      failures.clear();
      asking.answer(text);
    },
    interrupt() {
      if (slot.withRun(() => interruptKeys?.ctrlC())) {
        noteStop();
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
      if (!asking.back() && slot.withRun(() => interruptKeys?.escape())) noteStop();
    },
    end,
    deliver: (text) => deliver(text),
    cycleMode: () => terms.cycleMode(),
    follow(followed) {
      following = follow(followed);
      return following;
    },
    async replaceSession(act) {
      if (replacing !== undefined || slot.withRun(() => {})) throw new Error(BUSY);
      const replaced = (async () => {
        const resumes = await act();
        waiting = false;
        asking.forget();
        if (resumes) following = follow(await session().resume());
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
