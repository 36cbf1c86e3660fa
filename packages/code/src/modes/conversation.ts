import type { AgentEvent, Decision, SessionId } from "@keelson/protocol";
import type { PendingApproval, Run } from "keelson";
import type { Screen } from "../render/screen.ts";
import type { Style } from "../render/style.ts";
import { createRunView } from "../render/run-view.ts";
import { failureLines } from "../render/describe-event.ts";
import { questionLines } from "../render/question-lines.ts";
import { printableLine } from "../render/printable.ts";
import { questionPrompt, readAnswer, readEdited } from "./approval-question.ts";
import { decisionCommands, decisionLines } from "./decision-commands.ts";
import { createInterrupt } from "./interrupts.ts";
import { watchRun } from "./watch-run.ts";

/** What a conversation can ask of the world; `undefined` sessions are made by the first run. */
export interface ConversationWorld {
  start(text: string, model: string): Run<unknown>;
  /** Facts about the conversation so far. */
  facts(topic: "cost" | "sessions"): Promise<readonly string[]>;
  readonly command: string;
  now(): number;
  /** Ends the process now: the third Ctrl-C. */
  giveUp(): void;
}

export interface ConversationOptions {
  readonly screen: Screen;
  readonly style: Style;
  readonly world: ConversationWorld;
  readonly model: string;
  /** What stands before the cursor. */
  prompt(text: string): void;
  fill(text: string): void;
  clear(): boolean;
  /** The person wants to leave, and no run is open. */
  quit(): void;
}

/** What a person does in a terminal, turned into runs, answers and steering. */
export interface Conversation {
  /** @returns whether it is worth remembering: answers to questions are not */
  line(text: string): boolean;
  interrupt(): void;
  end(): void;
  /** Shows a run that is already under way. */
  follow(run: Run<unknown>): Promise<void>;
  /** Resolves when no run is open. */
  settled(): Promise<void>;
}

const PROMPT = "› ";
const UNANNOUNCED_MS = 200;
const HELP = [
  "/model [provider/id]  show or change the model      /cost      what this session took",
  "/sessions             the sessions of this folder   /quit      leave (also Ctrl-D)",
  "While it works, what you type steers it. Ctrl-C stops it after the current step, twice aborts it.",
];

export function createConversation({
  screen,
  style,
  world,
  model: firstModel,
  prompt,
  fill,
  clear,
  quit,
}: ConversationOptions): Conversation {
  let model = firstModel;
  let run: Run<unknown> | undefined;
  let interruptRun: (() => void) | undefined;
  let questions: PendingApproval[] = [];
  /** How many decisions of this process about a call the log has not confirmed yet: a call may be asked about again. */
  const decided = new Map<string, number>();
  /** Tokens of questions whose event was shown. */
  const announced = new Set<string>();
  /** The token of the question that is on the screen. */
  let shown = "";
  let editing = false;
  let leaving = false;
  let warned = false;
  let following: Promise<void> = Promise.resolve();

  const say = (...lines: readonly string[]): void => screen.block(lines);
  const failed = (error: unknown): void => say(...failureLines(failureOf(error), style));

  const current = (): PendingApproval | undefined => questions.find(({ request }) => announced.has(request.token));

  function announce(token: string): void {
    if (announced.has(token)) return;
    announced.add(token);
    ask();
  }

  function ask(): void {
    const question = current();
    if (question !== undefined && question.request.token !== shown) {
      shown = question.request.token;
      say("", ...questionLines(question.request, { style, columns: screen.columns }));
    }
    prompt(question === undefined ? PROMPT : editing ? "arguments as JSON › " : questionPrompt(question.request.type));
  }

  function answer(question: PendingApproval, line: string): void {
    if (editing) {
      if (line.trim() === "") {
        editing = false;
        return ask();
      }
      try {
        return decide(question, readEdited(line));
      } catch (error) {
        say(style.yellow(`  ${error instanceof Error ? error.message : String(error)}; an empty line goes back to the question`));
        return fill(line);
      }
    }
    const read = readAnswer(question.request.type, line);
    if (read.type === "decided") return decide(question, read.decision);
    if (read.type === "unclear") return say(style.yellow(`  ${read.hint}`));
    editing = true;
    ask();
    fill(JSON.stringify(question.request.input));
  }

  function decide(question: PendingApproval, decision: Decision): void {
    const { callId } = question.request;
    decided.set(callId, (decided.get(callId) ?? 0) + 1);
    forget(callId);
    question.decide(decision).catch(failed);
  }

  function forget(callId: string): void {
    const before = current();
    questions = questions.filter(({ request }) => request.callId !== callId);
    if (current() !== before) editing = false;
    ask();
  }

  async function collectQuestions(asking: Run<unknown>): Promise<void> {
    for await (const question of asking.approvals()) {
      questions = [...questions, question];
      // Asked before this process took the run up: no event comes.
      setTimeout(announce, UNANNOUNCED_MS, question.request.token).unref();
      ask();
    }
  }

  /** Questions come up after what led to them was shown, and go away when they are decided elsewhere. */
  async function* withQuestions(events: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent> {
    for await (const event of events) {
      if (event.type === "approval-decision") {
        const here = decided.get(event.callId) ?? 0;
        if (here > 0) decided.set(event.callId, here - 1);
        else forget(event.callId);
      }
      yield event;
      if (event.type === "approval-request") announce(event.token);
    }
  }

  async function follow(followed: Run<unknown>): Promise<void> {
    run = followed;
    interruptRun = createInterrupt(followed, { note: (text) => say(style.yellow(`! ${text}`)), giveUp: world.giveUp });
    const view = createRunView({ screen, style, now: world.now, model, questions: false });
    collectQuestions(followed).catch(failed);
    try {
      const last = await watchRun(withQuestions(followed), view, { live: true });
      const { waits = [], reason, error } = await followed.outcome;
      if (error !== undefined && last !== "error") failed(error);
      if (reason.startsWith("awaiting-")) say("", ...decisionLines(decisionCommands(world.command, followed.session as SessionId, waits)));
    } catch (error) {
      failed(error);
    }
    screen.status(undefined);
    run = undefined;
    interruptRun = undefined;
    questions = [];
    decided.clear();
    announced.clear();
    editing = false;
    ask();
    if (leaving) quit();
  }

  function start(text: string): void {
    let started: Run<unknown>;
    try {
      started = world.start(text, model);
    } catch (error) {
      return failed(error);
    }
    following = follow(started);
  }

  function changeModel(name: string): void {
    if (name === "") return say(`model: ${model}`);
    const chosen = name;
    const accepted = (): void => {
      model = chosen;
      say(`model: ${printableLine(chosen)}${run === undefined ? "" : " from the next turn"}`);
    };
    if (run === undefined) return accepted();
    Promise.resolve(run.setModel(chosen)).then(accepted, failed);
  }

  function slash(text: string): void {
    const [name = "", ...rest] = text.slice(1).trim().split(/\s+/);
    switch (name) {
      case "help":
        return say(...HELP);
      case "model":
        return changeModel(rest.join(" "));
      case "cost":
      case "sessions":
        return void world.facts(name).then((lines) => say(...lines), failed);
      case "quit":
      case "exit":
        return end();
      default:
        return say(style.yellow(`there is no /${printableLine(name)}; /help says what there is`));
    }
  }

  function end(): void {
    if (run === undefined) return quit();
    leaving = true;
    say(style.yellow("! stopping, then leaving; Ctrl-C aborts"));
    interruptRun?.();
  }

  function take(text: string): void {
    const question = current();
    if (question !== undefined) return answer(question, text);
    if (text.trim() === "") return;
    say("", style.bold(`${PROMPT}${text}`));
    if (text.startsWith("/")) return slash(text);
    if (run === undefined) return start(text);
    Promise.resolve(run.steer(text)).catch(failed);
  }

  return {
    line(text) {
      warned = false;
      const isAnswer = current() !== undefined;
      take(text);
      return !isAnswer && text.trim() !== "";
    },
    interrupt() {
      if (interruptRun !== undefined) return interruptRun();
      if (clear()) return;
      if (warned) return quit();
      warned = true;
      say(style.dim("Ctrl-C again leaves (or /quit)"));
    },
    end,
    follow(followed) {
      following = follow(followed);
      return following;
    },
    settled: () => following,
  };
}

function failureOf(error: unknown): { readonly kind: string; readonly message: string } {
  const failure = (error as { failure?: { kind?: unknown; message?: unknown } } | undefined)?.failure;
  if (typeof failure?.kind === "string" && typeof failure.message === "string") return { kind: failure.kind, message: failure.message };
  return { kind: "error", message: error instanceof Error ? error.message : String(error) };
}
