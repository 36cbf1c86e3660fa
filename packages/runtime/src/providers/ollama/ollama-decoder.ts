import type { JsonObject, JsonValue } from "@keelson/protocol";
import type { DecodedEvent } from "../polled-events.ts";
import { RepeatedCalls } from "../repeated-calls.ts";
import { argumentText, sentArguments } from "../sent-arguments.ts";
import { readStopReason } from "../stop-reason.ts";
import { reportedCount } from "../token-count/reported-count.ts";
import { failureInResponse, readVendorError } from "../vendor-failure.ts";
import {
  countOf,
  cutOff,
  type DecoderContext,
  type Fields,
  fieldsOf,
  madeUpCallId,
  invalidResponse,
  parseEvent,
  SegmentWriter,
  stringOf,
  type WireDecoder,
} from "../wire-decoder.ts";
import { OLLAMA_STOP_REASONS } from "./ollama-stop-reasons.ts";
import type { OllamaCalled, OllamaLine, OllamaLineMessage } from "./ollama-wire.ts";

/** How long the server took, in nanoseconds. */
const DURATIONS = ["total_duration", "load_duration", "prompt_eval_duration", "eval_duration"] as const;

/** Decodes responses of `/api/chat`: lines of JSON of which the last is `done`, or that one alone. */
export class OllamaDecoder implements WireDecoder {
  readonly sequence = "object";
  readonly #queue: DecodedEvent[];
  readonly #context: DecoderContext;
  readonly #segments: SegmentWriter;
  readonly #repeated = new RepeatedCalls();
  #calls = 0;
  #model = "";
  complete = false;

  constructor(queue: DecodedEvent[], context: DecoderContext) {
    this.#queue = queue;
    this.#context = context;
    // Thoughts go back to the model that had them: templates put them before the calls they led to.
    this.#segments = new SegmentWriter(queue, () => ({ wire: context.wire, model: context.model }));
  }

  /** Every line has its own time, so that no two share an envelope. */
  skim(_text: string, at: number): number {
    return at;
  }

  event(text: string, start: number, end: number): void {
    const data = text.slice(start, end);
    if (data.trim() !== "[DONE]") this.#line(parseEvent(data, this.#context));
  }

  whole(body: JsonValue): void {
    throw invalidResponse(`${JSON.stringify(body).slice(0, 120)} instead of lines of objects`, this.#context);
  }

  finish(): void {
    if (!this.complete) throw cutOff(this.#context);
  }

  #line(line: OllamaLine): void {
    if (line["error"] !== undefined && line["error"] !== null && line["error"] !== "")
      throw failureInResponse(readVendorError(line), this.#context, this.#context.requestId);
    const message = fieldsOf(line["message"]);
    if (message === undefined && line["done"] !== true)
      throw invalidResponse(`a line without a message: ${JSON.stringify(line).slice(0, 120)}`, this.#context);
    if (stringOf(line["model"]) !== "") this.#model = stringOf(line["model"]);
    if (message !== undefined) this.#message(message);
    if (line["done"] === true) this.#end(line);
  }

  #message(message: OllamaLineMessage): void {
    const thinking = stringOf(message["thinking"]);
    if (thinking !== "") this.#segments.thinking(thinking);
    const content = stringOf(message["content"]);
    if (content !== "") this.#segments.text(content);
    const told = message["tool_calls"];
    const calls = fieldsOf(told) === undefined ? told : [told];
    if (Array.isArray(calls)) for (const call of calls.map(fieldsOf)) if (call !== undefined) this.#call(call);
  }

  /** Calls come whole. Their `index` says nothing: older servers give the same one to all. */
  #call(call: OllamaCalled): void {
    const called = fieldsOf(call["function"]) ?? (call as Fields);
    const name = stringOf(called["name"]);
    const id = stringOf(call["id"]);
    const text = argumentText(sentArguments(called, "arguments"));
    // A placeholder. With arguments, a call without a name stays one, so that the model is told of it.
    if (name === "" && (text === "" || text === "{}")) return;
    if (this.#repeated.add(id, name, text)) return;
    const index = this.#calls++;
    this.#segments.end();
    this.#queue.push({ type: "tool-call-start", index, id: id === "" ? madeUpCallId() : id, name });
    this.#queue.push({ type: "tool-call-delta", index, text });
    if (id === "") this.#queue.push({ type: "tool-call-end", index });
    else this.#queue.push({ type: "tool-call-end", index, providerData: { wire: this.#context.wire, id } });
  }

  #end(line: OllamaLine): void {
    const { wire, model } = this.#context;
    this.#segments.end();
    // Servers before 0.1.4x tell no reason.
    const reason = stringOf(line["done_reason"]) || null;
    const durations: Record<string, JsonValue> = {};
    for (const name of DURATIONS) if (countOf(line[name]) !== null) durations[name] = line[name] as number;
    this.#queue.push({
      type: "end",
      stopReason: readStopReason(OLLAMA_STOP_REASONS, reason, this.#calls > 0),
      rawStopReason: reason,
      usage: {
        // Left out where the whole prompt was cached.
        inputTokens: reportedCount(line["prompt_eval_count"]),
        outputTokens: reportedCount(line["eval_count"]),
        cacheReadTokens: null,
        cacheCreationTokens: null,
        reasoningTokens: null,
      },
      model: this.#model === "" ? model : this.#model,
      providerData: { wire, ...(Object.keys(durations).length > 0 && { durations: durations as JsonObject }) },
    });
    this.complete = true;
  }
}
