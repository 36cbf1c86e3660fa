import {
  addUsage,
  addUsd,
  type AgentEvent,
  type CallSummary,
  type Failure,
  type RunReason,
  UNKNOWN_USAGE,
  type Usage,
  type Usd,
  ZERO_USD,
} from "@keelson/protocol";
import { describeEvent, failureLines, textOfMessage } from "./describe-event.ts";
import { truncated } from "../text/display-width.ts";
import type { Ending } from "./ending-words.ts";
import { formatDuration } from "./figures.ts";
import { foldLines } from "./fold-lines.ts";
import { printable, printableLine } from "../text/printable.ts";
import { figureWords, runFooter } from "./run-footer.ts";
import { questionLines } from "./question-lines.ts";
import type { Screen } from "../terminal/screen.ts";
import { createStyle, type Style } from "../text/style.ts";
import { callTitle, toolResultLines } from "./tool-view.ts";

/** Shows one run, event by event. */
export interface RunView {
  show(event: AgentEvent): void;
  /** Draws the status again; the spinner moves and the seconds count. */
  tick(): void;
}

export interface RunViewOptions {
  readonly screen: Screen;
  readonly style: Style;
  /** Unix ms. */
  readonly now: () => number;
  /** Whether questions are shown; whoever asks them one by one shows them then. Default true. */
  readonly questions?: boolean;
  /** Known before the run says it. */
  readonly model?: string;
  /** Called with the part of the context window that a request took. @returns a warning to show */
  readonly onContext?: (utilization: number) => string | undefined;
  /** False if a status line shows the figures of the run: then the line of activity is without them. Default true. */
  readonly figures?: boolean;
  /** Returns the lines of a failure. Empty: it was shown before. Default: its kind and its message. */
  readonly failureLines?: (failure: Failure) => readonly string[];
}

const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
// What a thinking model says can be long, and only its last lines are shown.
const MAX_THINKING = 20_000;

// The status line is cut to the width, which styled text cannot be.
const PLAIN: Style = createStyle(false);

export function createRunView({
  screen,
  style,
  now,
  questions = true,
  model: firstModel = "",
  onContext = () => undefined,
  figures = true,
  failureLines: linesOf = (failure) => failureLines(failure, style),
}: RunViewOptions): RunView {
  const calls = new Map<string, Pick<CallSummary, "name" | "input">>();
  let model = firstModel;
  let turn = 0;
  let usage: Usage = UNKNOWN_USAGE;
  let cost: Usd | null = ZERO_USD;
  let contextUtilization: number | undefined;
  let startedAt: number | undefined;
  let doing = "starting";
  let doingSince = now();
  let streamed = false;
  let thinking = "";
  let after: "nothing" | "words" | "block" | "header" = "nothing";
  let frame = 0;
  let ended = false;
  // A high surrogate whose other half comes with the next delta.
  let half = "";

  function begin(activity: string): void {
    if (activity !== doing) doingSince = now();
    doing = activity;
    drawStatus();
  }

  function drawStatus(): void {
    if (ended) return screen.status(undefined);
    const at = now();
    const waited = at - doingSince >= 1_000 ? ` ${formatDuration(at - doingSince)}` : "";
    const durationMs = at - (startedAt ?? at);
    const words = figures ? figureWords({ model, turns: turn, usage, cost, contextUtilization, durationMs }) : [formatDuration(durationMs)];
    screen.status(truncated(`${SPINNER[frame % SPINNER.length]} ${doing}${waited} · ${words.join(" · ")}`, screen.columns));
  }

  function block(lines: readonly string[], apart: boolean): void {
    if (lines.length === 0) return;
    screen.endText();
    screen.block(apart && after !== "nothing" ? ["", ...lines] : lines);
    after = "block";
  }

  function words(delta: string): void {
    const text = half + delta;
    half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : "";
    const whole = half === "" ? text : text.slice(0, -1);
    if (whole === "") return;
    if (!streamed && (after === "block" || after === "header")) screen.block([""]);
    streamed = true;
    after = "words";
    screen.text(printable(whole));
  }

  function showThinking(): void {
    if (thinking.trim() !== "")
      block(
        foldLines(thinking.trim(), { maxLines: 4, tail: 4, columns: screen.columns - 4 }).map((line) =>
          style.dim(`∴ ${style.italic(line)}`),
        ),
        true,
      );
    thinking = "";
  }

  function finish(
    reason: RunReason,
    at: number,
    { usage: used, cost: paid, turns, ...ending }: { readonly usage: Usage; readonly cost: Usd | null; readonly turns: number } & Ending,
  ): void {
    ended = true;
    screen.status(undefined);
    block(
      runFooter(reason, { model, turns, usage: used, cost: paid, contextUtilization, durationMs: at - (startedAt ?? at) }, ending, style),
      true,
    );
  }

  function showContext(utilization: number): void {
    contextUtilization = utilization;
    const warning = onContext(utilization);
    if (warning !== undefined) block([style.yellow(`! ${warning}`)], true);
  }

  function showChild(event: AgentEvent): void {
    if (event.type === "tool-calls-start") for (const call of event.calls) calls.set(call.callId, call);
    if (event.type === "tool-result")
      block(
        toolResultLines({ ...event, call: calls.get(event.callId) ?? event }, { style, columns: screen.columns - 2 }).map(
          (line) => `  ${line}`,
        ),
        false,
      );
  }

  function showOwn(event: AgentEvent): void {
    switch (event.type) {
      case "run-start":
        model = event.model;
        break;
      case "turn-start":
        turn = event.turn;
        model = event.model;
        begin("thinking");
        break;
      case "text-start":
        begin("writing");
        break;
      case "text-delta":
        words(event.text);
        break;
      case "text-end":
        screen.endText();
        break;
      case "thinking-delta":
        thinking = (thinking + event.text).slice(-MAX_THINKING);
        begin("thinking");
        break;
      case "thinking-end":
        showThinking();
        break;
      case "tool-call-start":
        begin(`preparing ${printableLine(event.name)}`);
        break;
      case "message":
        if (event.message.role === "assistant") {
          if (!streamed) words(textOfMessage(event.message));
          screen.endText();
          streamed = false;
        }
        break;
      case "retry":
      case "gap":
        // What was seen of this response is void or has holes: it is shown again, whole.
        streamed = false;
        thinking = "";
        break;
      case "tool-calls-start":
        for (const call of event.calls) calls.set(call.callId, call);
        begin(
          event.calls.length === 1
            ? callTitle(event.calls[0] ?? { name: "" }, { style: PLAIN, columns: 60 })
            : `${event.calls.length} calls`,
        );
        break;
      case "tool-progress":
        begin(truncated(`${calls.get(event.callId)?.name ?? "tool"}: ${printableLine(lastLine(event.message))}`, 60));
        break;
      case "tool-result": {
        const lines = toolResultLines({ ...event, call: calls.get(event.callId) ?? event }, { style, columns: screen.columns });
        // Calls that are told in one line stand close together.
        block(lines, after !== "header" || lines.length > 1);
        if (lines.length === 1) after = "header";
        calls.delete(event.callId);
        break;
      }
      case "approval-request":
        if (questions) block(questionLines(event, { style, columns: screen.columns }), true);
        begin("waiting for an answer");
        break;
      case "usage":
        usage = addUsage(usage, event.usage);
        cost = cost === null || event.cost === null ? null : addUsd(cost, event.cost);
        if (typeof event.contextUtilization === "number") showContext(event.contextUtilization);
        break;
      case "run-complete":
        finish(event.reason, event.at, event);
        break;
      case "run-suspend":
        finish(event.reason, event.at, { usage, cost, turns: turn });
        break;
      case "error":
        ended = true;
        screen.status(undefined);
        block(linesOf(event.failure), true);
        break;
      default:
    }
    const line = describeEvent(event, style);
    if (line === undefined) return;
    if (event.type === "approval-decision") block([`  ${printableLine(calls.get(event.callId)?.name ?? "call")}: ${line}`], false);
    else block([line], true);
  }

  return {
    show(event) {
      if ("at" in event) startedAt ??= event.at;
      if (event.path !== undefined && event.path.length > 0) showChild(event);
      else showOwn(event);
    },
    tick() {
      frame += 1;
      drawStatus();
    },
  };
}

function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1) ?? "";
}
