import type { JsonValue, ProviderData, ToolSchema, Usage } from "@keelson/protocol";
import { DeltaEnvelope } from "../delta-envelope.ts";
import { HeldText } from "../held-text.ts";
import type { DecodedEvent } from "../polled-events.ts";
import { readStopReason } from "../stop-reason.ts";
import { failureInResponse, readVendorError } from "../vendor-failure.ts";
import { ToolNames } from "../tool-names.ts";
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
import { ChatCalls } from "./chat-calls.ts";
import { ChatMedia } from "./chat-media.ts";
import { ChatReasoning } from "./chat-reasoning.ts";
import { CHAT_STOP_REASONS } from "./chat-stop-reasons.ts";
import { chatUsage, countsNothing } from "./chat-usage.ts";
import type { ChatResponse, ChatChoice, ChatCounts, ChatSaid } from "./chat-wire.ts";
import { firstChoice } from "./first-choice.ts";
import { isOnePieceOfText, saysMore } from "./plain-delta.ts";

export interface ChatDecoderOptions {
  /** The format of audio, which the response does not tell: that of the request. */
  readonly audioFormat?: string;
  /** Thinking keeps what its server wants back. */
  readonly keepsReasoning?: boolean;
  /** The tools that the request offers. */
  readonly tools?: readonly ToolSchema[] | undefined;
}

const NO_OPTIONS: ChatDecoderOptions = {};

/** Decodes responses of the chat wire: OpenAI's, and those of the many servers that speak it more or less. */
export class ChatDecoder implements WireDecoder {
  readonly #queue: DecodedEvent[];
  readonly #context: DecoderContext;
  readonly #options: ChatDecoderOptions;
  /** Made with the first text or thought. */
  #segments: SegmentWriter | undefined;
  /** Made with the first call. */
  #calls: ChatCalls | undefined;
  /** Made with the first that is said beside text and calls. */
  #reasoning: ChatReasoning | undefined;
  /** Made with the first delta of text: responses that only call tools need none. */
  #envelope: DeltaEnvelope | undefined;
  #refusal = "";
  #annotations: JsonValue[] = [];
  #media: ChatMedia | undefined;
  #finishReason: string | null = null;
  #ended = false;
  #sawChoice = false;
  #usage: ChatCounts | undefined;
  /** The usage is that of the whole response: many servers tell with each chunk what they have counted so far. */
  #counted = false;
  #id = "";
  #model = "";
  #fingerprint = "";
  complete = false;

  constructor(queue: DecodedEvent[], context: DecoderContext, options: ChatDecoderOptions = NO_OPTIONS) {
    this.#queue = queue;
    this.#context = context;
    this.#options = options;
  }

  skim(text: string, at: number): number {
    if (this.#envelope === undefined) return at;
    const texts: string[] = [];
    const rest = this.#envelope.skim(text, at, texts);
    this.#writer().texts(texts);
    return rest;
  }

  event(text: string, start: number, end: number, from: number): void {
    const data = text.slice(start, end);
    if (data === "[DONE]" || data.trim() === "[DONE]") {
      this.#ended = true;
      this.finish();
      return;
    }
    const chunk = parseEvent(data, this.#context);
    const before = this.#queue.length;
    if (!this.#chunk(chunk) || this.#queue.length === before || !isOnePieceOfText(this.#queue, before)) return;
    this.#envelope ??= new DeltaEnvelope("content", (event) => fieldsOf(firstChoice(event as Fields)?.["delta"])?.["content"]);
    this.#envelope.learn(text, from, start, end);
  }

  whole(body: JsonValue): void {
    const response: ChatResponse | undefined = fieldsOf(Array.isArray(body) ? body[0] : body);
    if (response === undefined) throw invalidResponse(`${JSON.stringify(body).slice(0, 120)} instead of an object`, this.#context);
    this.#facts(response);
    const choice = firstChoice(response);
    if (choice !== undefined) {
      this.#sawChoice = true;
      if (typeof choice["finish_reason"] === "string" && choice["finish_reason"] !== "null") this.#finishReason = choice["finish_reason"];
      this.#report(fieldsOf(choice["usage"]));
      const message = fieldsOf(choice["message"]) ?? fieldsOf(choice["delta"]);
      if (message !== undefined) this.#message(message, true);
      this.#choiceError(choice);
    }
    if (!this.#sawChoice && !Array.isArray(response["choices"]))
      throw invalidResponse(`an object without choices: ${JSON.stringify(response).slice(0, 120)}`, this.#context);
    this.#ended = true;
    this.finish();
  }

  get reported(): Usage | undefined {
    return this.#counted ? chatUsage(this.#usage, this.#context) : undefined;
  }

  finish(): void {
    if (this.complete) return;
    // Usage comes after the finish reason, so that only the end of input or [DONE] ends the response.
    if (!this.#ended && (this.#finishReason === null || this.#finishReason === "")) throw cutOff(this.#context);
    const { wire, model } = this.#context;
    if (this.#segments !== undefined) this.#endText();
    this.#calls?.finish();
    if (this.#options.keepsReasoning === true && this.#reasoning?.pending) {
      const segments = this.#writer();
      segments.start("thinking");
      segments.end();
    }
    if (this.#refusal !== "") this.#queue.push({ type: "content", part: { type: "refusal", text: this.#refusal } });
    this.#media?.push(this.#queue, wire, this.#options.audioFormat ?? "wav");
    const providerData: ProviderData = {
      wire,
      ...(this.#id !== "" && { id: this.#id }),
      ...(this.#fingerprint !== "" && { systemFingerprint: this.#fingerprint }),
    };
    this.#queue.push({
      type: "end",
      stopReason: readStopReason(CHAT_STOP_REASONS, this.#finishReason, this.#calls?.any === true),
      rawStopReason: this.#finishReason,
      usage: chatUsage(this.#usage, this.#context),
      model: this.#model === "" ? model : this.#model,
      providerData,
    });
    this.complete = true;
  }

  /** Reads a chunk. @returns true if it may have consisted of text alone */
  #chunk(chunk: ChatResponse): boolean {
    this.#facts(chunk);
    const choice = firstChoice(chunk);
    if (choice === undefined) return false;
    this.#sawChoice = true;
    const reason = choice["finish_reason"];
    // DashScope's word for "not yet".
    const finished = typeof reason === "string" && reason !== "null";
    if (finished) {
      this.#finishReason = reason;
      this.#counted = (chunk["usage"] ?? choice["usage"] ?? null) !== null;
    }
    // Moonshot reports in the choice.
    this.#report(fieldsOf(choice["usage"]));
    const delta = fieldsOf(choice["delta"]);
    // `message` beside `delta` repeats all text so far (Perplexity).
    if (delta !== undefined) this.#message(delta, false);
    else if (fieldsOf(choice["message"]) !== undefined && this.#segments === undefined && this.#calls === undefined)
      this.#message(choice["message"] as ChatSaid, false);
    if (choice["error"] !== undefined) this.#choiceError(choice);
    if (finished || delta === undefined || (delta["tool_calls"] ?? "") !== "") return false;
    return (chunk["usage"] ?? choice["usage"] ?? null) === null && chunk["x_groq"] === undefined && !saysMore(delta);
  }

  #facts(response: ChatResponse): void {
    const { id, model, system_fingerprint: fingerprint, usage } = response;
    if (typeof id === "string" && id !== "") this.#id = id;
    if (typeof model === "string" && model !== "") this.#model = model;
    if (typeof fingerprint === "string" && fingerprint !== "") this.#fingerprint = fingerprint;
    const groq = response["x_groq"] === undefined ? undefined : fieldsOf(response["x_groq"]);
    if (usage || groq !== undefined) {
      const counts = fieldsOf(usage) ?? fieldsOf(groq?.["usage"]);
      this.#report(counts);
      const { choices } = response;
      this.#counted ||= counts !== undefined && (this.#finishReason !== null || (Array.isArray(choices) && choices.length === 0));
    }
    const error = response["error"] ?? groq?.["error"];
    if (error !== undefined && error !== null) this.#raise({ error });
    if (response["choices"] === undefined && response["object"] === "error") this.#raise(response);
  }

  /** The last report is the one of the whole response. */
  #report(usage: ChatCounts | undefined): void {
    if (usage !== undefined && (this.#usage === undefined || !countsNothing(usage))) this.#usage = usage;
  }

  #choiceError(choice: ChatChoice): void {
    if (fieldsOf(choice["error"]) !== undefined) this.#raise({ error: choice["error"] });
  }

  /** Partial text is no excuse for an error, but a turn that was cut off at its length stands. */
  #raise(body: Fields): void {
    if (this.#finishReason === "length") return;
    throw failureInResponse(readVendorError(body), this.#context, this.#context.requestId);
  }

  #message(message: ChatSaid, whole: boolean): void {
    const more = saysMore(message);
    if (more) {
      const reasoning = this.#thoughts().read(message);
      if (reasoning !== "") this.#writer().thinking(reasoning);
    }
    const content = message["content"];
    if (Array.isArray(content)) this.#parts(content);
    else if (typeof content === "string" && content !== "") this.#writer().text(content);
    if (more) {
      const refusal = stringOf(message["refusal"]);
      if (refusal !== "") {
        this.#endText();
        this.#refusal += refusal;
      }
      if (Array.isArray(message["annotations"])) this.#annotations.push(...(message["annotations"] as JsonValue[]));
    }
    const given = message["tool_calls"];
    const calls = fieldsOf(given) === undefined ? given : [given];
    if (Array.isArray(calls) && calls.length > 0) {
      if (this.#segments?.open !== undefined) this.#endText();
      if (whole) this.#callReader().whole(calls);
      else this.#callReader().fragments(calls);
    }
    if (!more) return;
    const functionCall = fieldsOf(message["function_call"]);
    if (functionCall !== undefined) this.#callReader().functionCall(functionCall);
    if (message["images"] !== undefined || message["audio"] !== undefined) (this.#media ??= new ChatMedia()).read(message);
  }

  /** Content in parts: Mistral changes between them and strings within a stream. */
  #parts(content: readonly unknown[]): void {
    for (const value of content) {
      const part = fieldsOf(value);
      if (part === undefined) continue;
      if (part["type"] === "thinking") {
        const text = this.#thoughts().readPart(part);
        if (text !== "") this.#writer().thinking(text);
      } else if (part["type"] === "refusal") this.#refusal += stringOf(part["refusal"]);
      else if (part["type"] === "image_url") (this.#media ??= new ChatMedia()).image(part);
      else if (stringOf(part["text"]) !== "") this.#writer().text(stringOf(part["text"]));
    }
  }

  #thoughts(): ChatReasoning {
    return (this.#reasoning ??= new ChatReasoning(this.#context.wire, this.#context.model));
  }

  #callReader(): ChatCalls {
    return (this.#calls ??= new ChatCalls(
      this.#queue,
      this.#context.wire,
      new HeldText(this.#context),
      new ToolNames(this.#options.tools),
    ));
  }

  #writer(): SegmentWriter {
    if (this.#segments !== undefined) return this.#segments;
    const thinkingData = this.#options.keepsReasoning === true ? (): ProviderData | undefined => this.#reasoning?.take() : undefined;
    return (this.#segments = new SegmentWriter(this.#queue, thinkingData));
  }

  #endText(): void {
    const annotations = this.#annotations;
    if (annotations.length > 0 && this.#segments?.open === "text") {
      this.#annotations = [];
      this.#segments.end({ wire: this.#context.wire, annotations });
    } else this.#segments?.end();
  }
}
