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
import {
  type AnthropicBlock,
  type BlockSink,
  openTextBlock,
  openThinkingBlock,
  openToolUseBlock,
  openWholeBlock,
} from "./anthropic-block.ts";
import { ANTHROPIC_STOP_REASONS } from "./anthropic-stop-reasons.ts";
import { AnthropicUsage } from "./anthropic-usage.ts";
import type {
  AnthropicResponse,
  AnthropicBlockStart,
  AnthropicDelta,
  AnthropicEnding,
  AnthropicEvent,
  AnthropicStreamedBlock,
} from "./anthropic-wire.ts";

interface OpenBlock {
  readonly start: AnthropicBlockStart;
  readonly block: AnthropicBlock;
}

/** Decodes responses of the Messages API. */
export class AnthropicDecoder implements WireDecoder {
  readonly #queue: DecodedEvent[];
  readonly #context: DecoderContext;
  readonly #sink: BlockSink;
  readonly #usage = new AnthropicUsage();
  readonly #open = new Map<number, OpenBlock>();
  readonly #envelope = new DeltaEnvelope("text", (event) => (event as { delta?: { text?: unknown } }).delta?.text);
  #calls = 0;
  /**
   * Blocks from the first call of a program on. Whether such a call is ours to run is told by the stop reason, which comes
   * after them; one that has its result must not run again.
   */
  #held: Fields[] | undefined;
  #stopReason: string | null = null;
  #stopSequence: string | null = null;
  #facts: Record<string, JsonValue> = {};
  #model = "";
  #started = false;
  #counted = false;
  complete = false;

  constructor(queue: DecodedEvent[], context: DecoderContext) {
    this.#queue = queue;
    this.#context = context;
    const segments = new SegmentWriter(queue);
    this.#sink = { queue, segments, context, held: new HeldText(context), nextCallIndex: () => this.#calls++ };
  }

  skim(text: string, at: number): number {
    const texts: string[] = [];
    const rest = this.#envelope.skim(text, at, texts);
    this.#sink.segments.texts(texts);
    return rest;
  }

  event(text: string, start: number, end: number, from: number): void {
    const data = text.slice(start, end);
    if (data.trim() === "[DONE]") {
      // A gateway in front of the API ends its streams so.
      if (this.#stopReason === null) throw cutOff(this.#context);
      this.#end();
      return;
    }
    const event = parseEvent(data, this.#context) as AnthropicEvent;
    switch (event["type"]) {
      case "message_start":
        this.#message(fieldsOf(event["message"]) ?? {});
        return;
      case "content_block_start":
        this.#startBlock(indexOf(event), fieldsOf(event["content_block"]) ?? {});
        return;
      case "content_block_delta":
        this.#delta(indexOf(event), fieldsOf(event["delta"]) ?? {});
        // Only while its block alone is open does the same envelope mean the same.
        if (this.#streamsText(event)) this.#envelope.learn(text, from, start, end);
        return;
      case "content_block_stop":
        this.#stopBlock(indexOf(event));
        return;
      case "message_delta":
        this.#usage.merge(event["usage"]);
        this.#counted ||= fieldsOf(event["usage"]) !== undefined;
        this.#ending(fieldsOf(event["delta"]) ?? {});
        return;
      case "message_stop":
        this.#end();
        return;
      case "error":
        throw failureInResponse(readVendorError(event), this.#context, this.#context.requestId);
      default:
        // `ping`, and what is new. An error may come without a type.
        if (event["type"] === undefined && event["error"] !== undefined)
          throw failureInResponse(readVendorError(event), this.#context, this.#context.requestId);
    }
  }

  whole(body: JsonValue): void {
    const response: AnthropicResponse | undefined = fieldsOf(body);
    if (response === undefined) throw invalidResponse(`${JSON.stringify(body).slice(0, 120)} instead of an object`, this.#context);
    if (response["type"] === "error" || (response["content"] === undefined && response["error"] !== undefined))
      throw failureInResponse(readVendorError(response), this.#context, this.#context.requestId);
    if (!Array.isArray(response["content"]))
      throw invalidResponse(`an object without content: ${JSON.stringify(response).slice(0, 120)}`, this.#context);
    this.#message(response);
    this.#end();
  }

  /** The counts of `message_start` are those of its beginning. */
  get reported(): Usage | undefined {
    return this.#counted ? this.#usage.read() : undefined;
  }

  finish(): void {
    if (!this.complete) throw cutOff(this.#context);
  }

  #message(message: AnthropicResponse): void {
    this.#started = true;
    const { id, model, container } = message;
    if (stringOf(model) !== "") this.#model = stringOf(model);
    if (stringOf(id) !== "") this.#facts["id"] = stringOf(id);
    if (fieldsOf(container) !== undefined) this.#facts["container"] = container as JsonValue;
    this.#usage.merge(message["usage"]);
    this.#ending(message);
    // Streams that go on where a program waited begin with its calls.
    for (const block of Array.isArray(message["content"]) ? message["content"] : []) this.#wholeBlock(fieldsOf(block) ?? {});
  }

  #ending(delta: AnthropicEnding): void {
    if (typeof delta["stop_reason"] === "string") this.#stopReason = delta["stop_reason"];
    if (typeof delta["stop_sequence"] === "string") this.#stopSequence = delta["stop_sequence"];
    if (fieldsOf(delta["stop_details"]) !== undefined) this.#facts["stopDetails"] = delta["stop_details"] as JsonValue;
    if (fieldsOf(delta["container"]) !== undefined) this.#facts["container"] = delta["container"] as JsonValue;
  }

  #startBlock(index: number, start: AnthropicBlockStart): void {
    const before = this.#open.get(index);
    // Some gateways repeat the start of a call with each of its pieces.
    if (before !== undefined && isSameCall(before.start, start)) return;
    if (before !== undefined) this.#stopBlock(index);
    // Held blocks are gathered whole; the others are streamed.
    const hold = this.#held !== undefined || isProgramCall(start);
    this.#open.set(index, { start, block: hold ? this.#holdBlock(start) : openBlock(start, this.#sink) });
  }

  #streamsText(event: AnthropicEvent): boolean {
    return (
      fieldsOf(event["delta"])?.["type"] === "text_delta" &&
      this.#open.get(indexOf(event))?.start["type"] === "text" &&
      this.#held === undefined &&
      this.#sink.segments.open === "text"
    );
  }

  #delta(index: number, delta: AnthropicDelta): void {
    const open = this.#open.get(index) ?? (delta["type"] === "input_json_delta" ? this.#openCall() : undefined);
    if (open === undefined) {
      // Some gateways leave the start of a text block out.
      if (delta["type"] !== "text_delta" && delta["type"] !== "thinking_delta") return;
      this.#startBlock(index, { type: delta["type"] === "text_delta" ? "text" : "thinking" });
      this.#delta(index, delta);
      return;
    }
    open.block.delta(delta);
  }

  /** The call that is open, for arguments whose index names none. A call must not run without them. */
  #openCall(): OpenBlock {
    const last = [...this.#open.values()].findLast(({ start }) => stringOf(start["type"]).endsWith("tool_use"));
    if (last === undefined) throw invalidResponse("arguments of a call that it did not begin", this.#context);
    return last;
  }

  #stopBlock(index: number): void {
    const open = this.#open.get(index);
    if (open === undefined) return;
    this.#open.delete(index);
    this.#envelope.forget();
    open.block.finish();
  }

  #wholeBlock(start: AnthropicBlockStart): void {
    if (this.#held !== undefined || isProgramCall(start)) this.#holdBlock(start).finish();
    else openBlock(start, this.#sink).finish();
  }

  #holdBlock(start: AnthropicBlockStart): AnthropicBlock {
    this.#envelope.forget();
    const gathered: Record<string, unknown> = { ...start };
    let inputText = "";
    const citations: unknown[] = [];
    const held = (this.#held ??= []);
    this.#sink.held.add(HELD_ITEM_LENGTH + JSON.stringify(start).length);
    held.push(gathered);
    return {
      delta: (delta) => {
        this.#sink.held.add(JSON.stringify(delta).length);
        for (const [name, value] of Object.entries(delta)) {
          if (name === "type") continue;
          if (name === "partial_json") inputText += stringOf(value);
          else if (name === "citation") citations.push(value);
          else gathered[name] = typeof value === "string" && typeof gathered[name] === "string" ? gathered[name] + value : value;
        }
      },
      finish() {
        if (citations.length > 0) gathered["citations"] = citations;
        if (inputText !== "") gathered["inputText"] = inputText;
      },
    };
  }

  #release(): void {
    const held = this.#held;
    this.#held = undefined;
    for (const { inputText, ...block } of held ?? []) {
      const asked = block["type"] === "tool_use" && (!isProgramCall(block) || this.#stopReason === "tool_use");
      const open = block["type"] === "tool_use" && !asked ? openWholeBlock(block, this.#sink) : openBlock(block, this.#sink);
      if (typeof inputText === "string") open.delta({ type: "input_json_delta", partial_json: inputText });
      open.finish();
    }
  }

  #end(): void {
    if (this.complete) return;
    if (!this.#started) throw cutOff(this.#context);
    for (const index of this.#open.keys()) this.#stopBlock(index);
    this.#sink.segments.end();
    this.#release();
    const { wire, model } = this.#context;
    const providerData: ProviderData = { wire, ...this.#facts, ...(this.#stopSequence !== null && { stopSequence: this.#stopSequence }) };
    this.#queue.push({
      type: "end",
      stopReason: readStopReason(ANTHROPIC_STOP_REASONS, this.#stopReason, this.#calls > 0),
      rawStopReason: this.#stopReason,
      usage: this.#usage.read(),
      model: this.#model === "" ? model : this.#model,
      providerData,
    });
    this.complete = true;
  }
}

function openBlock(start: AnthropicBlockStart, sink: BlockSink): AnthropicBlock {
  switch (start["type"] as AnthropicStreamedBlock) {
    case "text":
      return openTextBlock(start, sink);
    case "thinking":
      return openThinkingBlock(start, sink);
    case "tool_use":
      return openToolUseBlock(start, sink);
    default:
      return openWholeBlock(start, sink);
  }
}

function isSameCall(a: AnthropicBlockStart, b: AnthropicBlockStart): boolean {
  return a["type"] === "tool_use" && b["type"] === "tool_use" && stringOf(a["id"]) !== "" && a["id"] === b["id"] && a["name"] === b["name"];
}

/** A call that code makes which the vendor runs. */
function isProgramCall(block: AnthropicBlockStart): boolean {
  const caller = fieldsOf(block["caller"]);
  return block["type"] === "tool_use" && caller !== undefined && caller["type"] !== "direct";
}

function indexOf(event: AnthropicEvent): number {
  return typeof event["index"] === "number" ? event["index"] : 0;
}
