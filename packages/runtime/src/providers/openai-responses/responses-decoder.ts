import type { JsonValue, ProviderData, Usage } from "@keelson/protocol";
import { DeltaEnvelope } from "../delta-envelope.ts";
import { HELD_ITEM_LENGTH, HeldText } from "../held-text.ts";
import type { DecodedEvent } from "../polled-events.ts";
import { readStopReason } from "../stop-reason.ts";
import { failureInResponse, readVendorError } from "../vendor-failure.ts";
import {
  cutOff,
  type DecoderContext,
  type Fields,
  fieldsOf,
  invalidResponse,
  parseEvent,
  SegmentWriter,
  stringOf,
  type WireDecoder,
} from "../wire-decoder.ts";
import { argumentText } from "../sent-arguments.ts";
import { CallItem, ItemSink, MessageItem, type OpenItem, ReasoningItem, type ResponseFacts, ServerItem } from "./responses-item.ts";
import { RESPONSES_STOP_REASONS } from "./responses-stop-reasons.ts";
import { responsesUsage } from "./responses-usage.ts";
import type { ResponsesResponse, ResponsesEvent, ResponsesKnownOutput, ResponsesOutput } from "./responses-wire.ts";

/** Decodes responses of the Responses API. */
export class ResponsesDecoder implements WireDecoder {
  readonly #queue: DecodedEvent[];
  readonly #context: DecoderContext;
  readonly #facts: ResponseFacts = { id: "", stored: false };
  readonly #sink: ItemSink;
  /** By their place in the output; their ids may change from event to event (GitHub Copilot). */
  readonly #items = new Map<number, KnownItem>();
  readonly #envelope = new DeltaEnvelope("delta", (event) => (event as Fields)["delta"], "sequence_number");
  /** The event that the envelope was learned from: those it reads differ in nothing but their text. */
  #learned: ResponsesEvent = {};
  #model = "";
  reported: Usage | undefined;
  complete = false;

  constructor(queue: DecodedEvent[], context: DecoderContext) {
    this.#queue = queue;
    this.#context = context;
    this.#sink = new ItemSink(queue, new SegmentWriter(queue), context, this.#facts, new HeldText(context));
  }

  skim(text: string, at: number): number {
    const texts: string[] = [];
    const rest = this.#envelope.skim(text, at, texts);
    for (const piece of texts) this.#text(this.#learned, piece);
    return rest;
  }

  event(text: string, start: number, end: number, from: number): void {
    const data = text.slice(start, end);
    // Ends some streams, but only after the event that ends the response.
    if (data.trim() === "[DONE]") throw cutOff(this.#context);
    const event = parseEvent(data, this.#context) as ResponsesEvent;
    const at = this.#place(event);
    switch (event["type"]) {
      case "response.output_text.delta": {
        const delta = stringOf(event["delta"]);
        this.#text(event, delta);
        if (delta !== "" && typeof event["output_index"] === "number" && this.#envelope.learn(text, from, start, end))
          this.#learned = event;
        return;
      }
      case "response.refusal.delta":
        this.#message(at, event).refusal(numberOf(event["content_index"]), stringOf(event["delta"]));
        return;
      case "response.content_part.done":
        this.#partDone(at, event);
        return;
      case "response.reasoning_summary_text.delta":
        this.#reasoning(at, event).thinking("summary", numberOf(event["summary_index"]), stringOf(event["delta"]));
        return;
      case "response.reasoning_text.delta":
      case "response.reasoning.delta":
        this.#reasoning(at, event).thinking("text", numberOf(event["content_index"]), stringOf(event["delta"]));
        return;
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        this.#call(at)?.input(event["delta"]);
        return;
      case "response.function_call_arguments.done":
        this.#call(at)?.whole(event["arguments"]);
        return;
      case "response.custom_tool_call_input.done":
        this.#call(at)?.whole(event["input"]);
        return;
      case "response.output_item.added":
        this.#open(at, fieldsOf(event["item"]) ?? {});
        return;
      case "response.output_item.done":
        this.#done(at, fieldsOf(event["item"]) ?? {});
        return;
      case "response.created":
      case "response.queued":
      case "response.in_progress":
        this.#learnFacts(fieldsOf(event["response"]) ?? {});
        return;
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
      case "response.done":
        this.#end(fieldsOf(event["response"]) ?? {}, stringOf(event["type"]).slice("response.".length));
        return;
      case "error":
        throw failureInResponse(readVendorError(event), this.#context, this.#context.requestId);
      default:
        // Progress of the server's own tools, keep-alives, and what is new. An error may come without a type.
        if (event["type"] === undefined && event["error"] !== undefined)
          throw failureInResponse(readVendorError(event), this.#context, this.#context.requestId);
    }
  }

  whole(body: JsonValue): void {
    const response: ResponsesResponse | undefined = fieldsOf(Array.isArray(body) ? body[0] : body);
    if (response === undefined) throw invalidResponse(`${JSON.stringify(body).slice(0, 120)} instead of an object`, this.#context);
    const error = response["error"] ?? undefined;
    if (error !== undefined) throw failureInResponse(readVendorError({ error }), this.#context, this.#context.requestId);
    if (!Array.isArray(response["output"]) && typeof response["status"] !== "string")
      throw invalidResponse(`an object without output: ${JSON.stringify(response).slice(0, 120)}`, this.#context);
    this.#end(response, "completed");
  }

  finish(): void {
    if (!this.complete) throw cutOff(this.#context);
  }

  #learnFacts(response: ResponsesResponse): void {
    this.#facts.id = stringOf(response["id"]) || this.#facts.id;
    this.#model = stringOf(response["model"]) || this.#model;
    if (typeof response["store"] === "boolean") this.#facts.stored = response["store"];
  }

  #open(at: number, item: ResponsesOutput): OpenItem {
    const before = this.#items.get(at);
    if (before !== undefined) this.#finish(before, before.start);
    this.#sink.held.add(HELD_ITEM_LENGTH);
    const open = openItem(this.#sink, item);
    this.#items.set(at, { open, start: item, finished: false });
    return open;
  }

  #done(at: number, item: ResponsesOutput): void {
    const known = this.#knownAs(at, item);
    if (known !== undefined) return this.#finish(known, item);
    let place = at;
    while (this.#items.has(place)) place++;
    this.#open(place, item);
    this.#finish(this.#items.get(place) as KnownItem, item);
  }

  #finish(known: KnownItem, item: ResponsesOutput): void {
    if (known.finished) return;
    known.finished = true;
    known.final = item;
    known.open.done(item);
  }

  /** The item that this is the final form of. Some servers tell it at another place than its pieces. */
  #knownAs(at: number, item: ResponsesOutput): KnownItem | undefined {
    const there = this.#items.get(at);
    if (there !== undefined && (there.start["type"] === undefined || there.start["type"] === item["type"]) && !isOther(there.final, item))
      return there;
    for (const known of this.#items.values()) if (isSame(known.start, item) && !isOther(known.final, item)) return known;
    return undefined;
  }

  /** The place that an event names; of one that names none, that of its item, or of the item that came last. */
  #place(event: ResponsesEvent): number {
    if (typeof event["output_index"] === "number") return event["output_index"];
    const id = stringOf(event["item_id"]);
    if (id !== "") for (const [at, { start }] of this.#items) if (start["id"] === id) return at;
    const last = [...this.#items].at(-1);
    return last === undefined || last[1].finished || fieldsOf(event["item"]) !== undefined ? this.#items.size : last[0];
  }

  #text(event: ResponsesEvent, delta: string): void {
    if (delta !== "") this.#message(this.#place(event), event).text(numberOf(event["content_index"]), delta);
  }

  #message(at: number, { item_id: id }: ResponsesEvent): MessageItem {
    const item = this.#items.get(at)?.open;
    return item instanceof MessageItem ? item : (this.#open(at, { type: "message", id }) as MessageItem);
  }

  #reasoning(at: number, { item_id: id }: ResponsesEvent): ReasoningItem {
    const item = this.#items.get(at)?.open;
    return item instanceof ReasoningItem ? item : (this.#open(at, { type: "reasoning", id }) as ReasoningItem);
  }

  #call(at: number): CallItem | undefined {
    const item = this.#items.get(at)?.open;
    return item instanceof CallItem ? item : undefined;
  }

  #partDone(at: number, event: ResponsesEvent): void {
    const item = this.#items.get(at)?.open;
    const part = fieldsOf(event["part"]);
    if (item instanceof MessageItem && part !== undefined) item.partDone(numberOf(event["content_index"]), part);
  }

  /** The last event repeats all items; servers that streamed none of them are read from it (the ChatGPT back end sends it empty). */
  #end(response: ResponsesResponse, ending: string): void {
    this.#learnFacts(response);
    const status = stringOf(response["status"]) || (ending === "done" ? "completed" : ending);
    const usage = responsesUsage(fieldsOf(response["usage"]));
    this.reported = usage;
    const error = fieldsOf(response["error"]);
    if (error !== undefined || status === "failed") {
      const told = error === undefined ? { message: "the response failed, and no reason was given" } : readVendorError({ error });
      throw failureInResponse(told, this.#context, this.#context.requestId);
    }
    const output = Array.isArray(response["output"]) ? response["output"] : [];
    const streamed = [...this.#items.values()];
    const repeated = new Map<unknown, number>();
    for (const [at, value] of output.entries()) {
      const item = fieldsOf(value);
      if (item === undefined) continue;
      const nth = repeated.get(item["type"]) ?? 0;
      repeated.set(item["type"], nth + 1);
      // Neither places nor ids need be those of the stream (Bedrock): what it gave of this kind is counted off.
      const known = streamed.filter(({ start }) => start["type"] === item["type"])[nth];
      if (known !== undefined && this.#knownAs(at, item) === undefined) this.#finish(known, item);
      else this.#done(at, item);
    }
    for (const known of this.#items.values()) this.#finish(known, known.start);
    this.#sink.take(undefined);
    const reason = stringOf(fieldsOf(response["incomplete_details"])?.["reason"]);
    const { wire, model } = this.#context;
    const providerData: ProviderData = {
      wire,
      ...(this.#facts.id !== "" && { id: this.#facts.id }),
      ...(reason !== "" && { incompleteReason: reason }),
    };
    this.#queue.push({
      type: "end",
      stopReason:
        status === "incomplete"
          ? readStopReason(RESPONSES_STOP_REASONS, reason || status, false)
          : readStopReason(RESPONSES_STOP_REASONS, status, this.#sink.calls > 0),
      rawStopReason: status,
      usage,
      model: this.#model === "" ? model : this.#model,
      providerData,
    });
    this.complete = true;
  }
}

interface KnownItem {
  readonly open: OpenItem;
  readonly start: ResponsesOutput;
  /** The form in which it ended. */
  final?: ResponsesOutput;
  finished: boolean;
}

/** True for a call with the ids of one that ended with other arguments: some servers give all calls of a response the same id. */
function isOther(final: ResponsesOutput | undefined, item: ResponsesOutput): boolean {
  if (final === undefined) return false;
  const [before, after] = [argumentText(final["arguments"]), argumentText(item["arguments"])];
  return before !== "" && after !== "" && (before !== after || final["name"] !== item["name"]);
}

/** By its own id, or by that of its call. */
function isSame(a: ResponsesOutput, b: ResponsesOutput): boolean {
  if (a["type"] !== b["type"]) return false;
  return [a["id"], a["call_id"]].some((id, at) => typeof id === "string" && id !== "" && id === (at === 0 ? b["id"] : b["call_id"]));
}

function openItem(sink: ItemSink, item: ResponsesOutput): OpenItem {
  switch (item["type"] as ResponsesKnownOutput) {
    case "message":
      return new MessageItem(sink, item);
    case "reasoning":
      return new ReasoningItem(sink, item);
    case "function_call":
    case "custom_tool_call":
      return new CallItem(sink, item);
    default:
      return new ServerItem(sink);
  }
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
