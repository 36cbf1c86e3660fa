import { addUsage, addUsd, type AgentEvent, type CallSummary, type Failure, type RunReason, type Usage, type Usd } from "@keelson/protocol";
import type { Reading } from "../markdown/reading.ts";
import { describeEvent, failureLines, textOfMessage } from "./describe-event.ts";
import { truncated } from "../text/display-width.ts";
import type { Ending } from "./ending-words.ts";
import { foldLines } from "./fold-lines.ts";
import { printableLine } from "../text/printable.ts";
import { noticeLines } from "./notice-lines.ts";
import { runFooter } from "./run-footer.ts";
import { createRunStatus } from "./run-status.ts";
import { questionLines } from "./question-lines.ts";
import type { Screen } from "../terminal/screen.ts";
import { createStyle, type Style } from "../text/style.ts";
import { callTitle, toolResultLines, type ToolViewOptions } from "./tool-view.ts";
import { createWordsView } from "./words-view.ts";

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
  /** False if the caller shows the questions. Default true. */
  readonly questions?: boolean;
  /** Known before the run says it. */
  readonly model?: string;
  /** Called with the part of the context window that a request took. @returns a warning to show */
  readonly onContext?: (utilization: number) => string | undefined;
  /** False if a status line shows the figures of the run: then the line of activity is without them. Default true. */
  readonly figures?: boolean;
  /** Returns the lines of a failure. Empty: it was shown before. Default: its kind and its message. */
  readonly failureLines?: (failure: Failure) => readonly string[];
  /** False if the list of tasks is in sight anyway: then its changes are a line each. Default true. */
  readonly tasks?: boolean;
  /** Renders words and code. Default: they are shown as they were written. */
  readonly reading?: Reading | undefined;
}

// Characters of thinking that are kept: only its last lines are shown.
const MAX_THINKING = 20_000;

// The status line is cut to the width, which styled text cannot be.
const PLAIN: Style = createStyle(false);

export function createRunView({
  screen,
  style,
  now,
  questions = true,
  model = "",
  onContext = () => undefined,
  figures = true,
  tasks = true,
  failureLines: linesOf = (failure) => failureLines(failure, style),
  reading,
}: RunViewOptions): RunView {
  const calls = new Map<string, Pick<CallSummary, "name" | "input">>();
  let startedAt: number | undefined;
  const status = createRunStatus({ screen, now, model, startedAt: () => startedAt, showsFigures: figures });
  const words = createWordsView(screen, reading?.words());
  let streamed = false;
  let thinking = "";
  let after: "nothing" | "words" | "block" | "header" = "nothing";

  const viewOptions = (): ToolViewOptions => ({ style, columns: screen.columns, tasks, ...reading });

  function block(lines: readonly string[], apart: boolean): void {
    if (lines.length === 0) return;
    words.interrupt();
    screen.block(apart && after !== "nothing" ? ["", ...lines] : lines);
    after = "block";
  }

  function showWords(delta: string): void {
    if (delta === "") return;
    if (!streamed && (after === "block" || after === "header")) screen.block([""]);
    streamed = true;
    after = "words";
    words.show(delta);
  }

  function showThinking(): void {
    const { folds } = reading ?? {};
    const keep = folds && ((lines: readonly string[]) => folds.keep("thinking", lines));
    if (thinking.trim() !== "")
      block(
        foldLines(thinking.trim(), { maxLines: 4, tail: 4, columns: screen.columns - 4, keep }).map((line) =>
          style.dim(`∴ ${style.italic(line)}`),
        ),
        true,
      );
    thinking = "";
  }

  function finish(
    reason: RunReason,
    at: number,
    { usage, cost, turns, ...ending }: { readonly usage: Usage; readonly cost: Usd | null; readonly turns: number } & Ending,
  ): void {
    words.end();
    status.end();
    block(
      runFooter(reason, { ...status.figures, turns, usage, cost, durationMs: at - (startedAt ?? at) }, ending, {
        style,
        isShort: !figures,
      }),
      true,
    );
  }

  function showContext(utilization: number): void {
    status.update({ contextUtilization: utilization });
    const warning = onContext(utilization);
    if (warning !== undefined) block([style.yellow(`! ${warning}`)], true);
  }

  function showChild(event: AgentEvent): void {
    if (event.type === "tool-calls-start") for (const call of event.calls) calls.set(call.callId, call);
    if (event.type === "tool-result")
      block(
        toolResultLines({ ...event, call: calls.get(event.callId) ?? event }, { ...viewOptions(), columns: screen.columns - 2 }).map(
          (line) => `  ${line}`,
        ),
        false,
      );
  }

  function showOwn(event: AgentEvent): void {
    switch (event.type) {
      case "run-start":
        status.update({ model: event.model });
        break;
      case "turn-start":
        status.update({ turns: event.turn, model: event.model });
        status.begin("thinking");
        break;
      case "text-start":
        status.begin("writing");
        break;
      case "text-delta":
        showWords(event.text);
        break;
      case "text-end":
        words.end();
        break;
      case "thinking-delta":
        thinking = (thinking + event.text).slice(-MAX_THINKING);
        status.begin("thinking");
        break;
      case "thinking-end":
        showThinking();
        break;
      case "tool-call-start":
        status.begin(`preparing ${printableLine(event.name)}`);
        break;
      case "message":
        if (event.message.role === "assistant") {
          if (!streamed) showWords(textOfMessage(event.message));
          words.end();
          streamed = false;
        }
        break;
      case "retry":
      case "gap":
        // The visible part of this response is void or has holes. The response is shown again, whole.
        words.drop();
        streamed = false;
        thinking = "";
        break;
      case "tool-calls-start":
        for (const call of event.calls) calls.set(call.callId, call);
        status.begin(
          event.calls.length === 1
            ? callTitle(event.calls[0] ?? { name: "" }, { style: PLAIN, columns: 60 })
            : `${event.calls.length} calls`,
        );
        break;
      case "tool-progress":
        status.begin(truncated(`${calls.get(event.callId)?.name ?? "tool"}: ${printableLine(lastLine(event.message))}`, 60));
        break;
      case "tool-result": {
        const lines = toolResultLines({ ...event, call: calls.get(event.callId) ?? event }, viewOptions());
        // Calls of one line have no empty line between them.
        block(lines, after !== "header" || lines.length > 1);
        if (lines.length === 1) after = "header";
        calls.delete(event.callId);
        break;
      }
      case "approval-request":
        if (questions) block(questionLines(event, viewOptions()), true);
        status.begin("waiting for an answer");
        break;
      case "usage": {
        const { usage, cost } = status.figures;
        status.update({
          usage: addUsage(usage, event.usage),
          cost: cost === null || event.cost === null ? null : addUsd(cost, event.cost),
        });
        if (typeof event.contextUtilization === "number") showContext(event.contextUtilization);
        break;
      }
      case "status":
        if (event.level === "warn") block(noticeLines(event.status, { style, folds: reading?.folds }), true);
        break;
      case "run-complete":
        finish(event.reason, event.at, event);
        break;
      case "run-suspend":
        finish(event.reason, event.at, status.figures);
        break;
      case "detached":
        words.end();
        status.end();
        break;
      case "error":
        words.end();
        status.end();
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
    tick: () => status.tick(),
  };
}

function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1) ?? "";
}
