import type { Message, ToolCallPart } from "../content.ts";
import type { CallSummary, RecordedEvent } from "../event.ts";
import type { CallId } from "../ids.ts";
import { toStopReason, type AgentStopReason } from "./to-stop-reason.ts";

/** One model response with the calls it asked for and their results. */
export interface AgentStep {
  readonly response: Message;
  readonly toolCalls: readonly CallSummary[];
  readonly toolResults: readonly Message[];
}

export interface AgentResponse {
  readonly steps: readonly AgentStep[];
  /** The text of the last response; absent when there was none. */
  readonly finalResponse?: string;
  readonly iterations: number;
  readonly stopReason: AgentStopReason;
}

/** The seven events of the step-and-response design. */
export type StepResponseEvent =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "thinking-delta"; readonly text: string }
  /** All calls of the response, complete. */
  | { readonly type: "tool-calls-start"; readonly calls: readonly CallSummary[] }
  | { readonly type: "tool-result"; readonly callId: CallId; readonly output: string }
  | { readonly type: "tool-calls-complete" }
  | { readonly type: "compact"; readonly summary: string }
  | { readonly type: "done"; readonly response: AgentResponse };

/**
 * Our events in the words of the step-and-response design, for the run itself (its children are left out). `done` is the
 * last one; a run that suspends or moves to another process ends without it, since it isn't done. A response whose deltas
 * were not seen (a stream read from the log) comes as one delta.
 */
export async function* toStepResponseEvents(events: AsyncIterable<RecordedEvent>): AsyncGenerator<StepResponseEvent, void, undefined> {
  const steps: { response: Message; toolCalls: CallSummary[]; toolResults: Message[] }[] = [];
  let streamed = { "text-delta": false, "thinking-delta": false };

  for await (const event of events) {
    if (event.path !== undefined && event.path.length > 0) continue;
    switch (event.type) {
      case "text-delta":
      case "thinking-delta":
        streamed[event.type] = true;
        yield { type: event.type, text: event.text };
        break;
      case "retry":
        streamed = { "text-delta": false, "thinking-delta": false };
        break;
      case "message": {
        if (event.message.role !== "assistant") break;
        for (const type of ["thinking", "text"] as const) {
          const text = textOf(event.message, type);
          if (text !== "" && !streamed[`${type}-delta`]) yield { type: `${type}-delta`, text };
        }
        streamed = { "text-delta": false, "thinking-delta": false };
        steps.push({ response: event.message, toolCalls: callsOf(event.message), toolResults: [] });
        break;
      }
      case "tool-calls-start":
        yield { type: "tool-calls-start", calls: event.calls };
        break;
      case "tool-result":
        steps.at(-1)?.toolResults.push({
          role: "tool",
          content: [
            { type: "tool-result", id: event.callId, name: event.name, output: event.output, ...(event.isError && { isError: true }) },
          ],
        });
        yield {
          type: "tool-result",
          callId: event.callId,
          output: typeof event.output === "string" ? event.output : JSON.stringify(event.output),
        };
        break;
      case "tool-calls-complete":
        yield { type: "tool-calls-complete" };
        break;
      case "compaction":
        yield { type: "compact", summary: event.summary };
        break;
      case "run-complete":
        yield { type: "done", response: responseOf(steps, toStopReason(event.reason)) };
        return;
      case "error":
        yield { type: "done", response: responseOf(steps, { type: "error", message: event.failure.message }) };
        return;
      default:
        // The other events have no word there.
        break;
    }
  }
}

function responseOf(steps: readonly AgentStep[], stopReason: AgentStopReason): AgentResponse {
  const last = steps.at(-1);
  const text = last === undefined ? "" : textOf(last.response, "text");
  return { steps, ...(text !== "" && { finalResponse: text }), iterations: steps.length, stopReason };
}

function textOf(message: Message, type: "text" | "thinking"): string {
  let text = "";
  for (const part of message.content) if (part.type === type) text += part.text;
  return text;
}

function callsOf(message: Message): CallSummary[] {
  return message.content
    .filter((part): part is ToolCallPart => part.type === "tool-call")
    .map(({ id, name, input, inputText }) => ({ callId: id, name, ...(input !== undefined && { input }), inputText }));
}
