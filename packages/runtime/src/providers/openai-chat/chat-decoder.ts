import type { InferEvent, JsonObject, JsonValue, ProviderData, StopReason } from "@keelson/protocol";
import { DeltaEnvelope } from "../delta-envelope.ts";
import { failureInAnswer, readVendorError } from "../vendor-failure.ts";
import {
  countOf,
  cutOff,
  type DecoderContext,
  type Fields,
  fieldsOf,
  notAnAnswer,
  parseEvent,
  SegmentWriter,
  stopReasonWithCalls,
  stringOf,
  type WireDecoder,
} from "../wire-decoder.ts";
import { ChatCalls } from "./chat-calls.ts";
import { ChatReasoning } from "./chat-reasoning.ts";
import { chatUsage } from "./chat-usage.ts";
import type { ChatAnswer, ChatChoice, ChatCounts, ChatFinishReason, ChatSaid } from "./chat-wire.ts";

export interface ChatDecoderOptions {
  /** The format of audio answers, which the answer does not tell: that of the request. */
  readonly audioFormat?: string;
  /** Thinking keeps what its server wants back. */
  readonly keepsReasoning?: boolean;
}

const STOP_REASONS: { readonly [reason: string]: StopReason } = {
  stop: "end-turn",
  eos: "end-turn",
  end_turn: "end-turn",
  stop_sequence: "stop-sequence",
  tool_calls: "tool-use",
  function_call: "tool-use",
  length: "max-tokens",
  max_tokens: "max-tokens",
  model_length: "max-tokens",
  content_filter: "content-filter",
} satisfies Record<ChatFinishReason, StopReason> & { readonly [reason: string]: StopReason };

/** Decodes answers of the chat wire: OpenAI's, and those of the many servers that speak it more or less. */
export class ChatDecoder implements WireDecoder {
  readonly #queue: InferEvent[];
  readonly #context: DecoderContext;
  readonly #options: ChatDecoderOptions;
  readonly #segments: SegmentWriter;
  readonly #calls: ChatCalls;
  readonly #reasoning: ChatReasoning;
  readonly #envelope = new DeltaEnvelope("content", (event) => fieldsOf(firstChoice(event as Fields)?.["delta"])?.["content"]);
  readonly #onText = (text: string): void => this.#segments.text(text);
  #refusal = "";
  #annotations: JsonValue[] = [];
  #audio: { id: string; data: string[]; transcript: string } | undefined;
  #images: JsonObject[] = [];
  #finishReason: string | null = null;
  #ended = false;
  #sawChoice = false;
  #usage: ChatCounts | undefined;
  #id = "";
  #model = "";
  #fingerprint = "";
  complete = false;

  constructor(queue: InferEvent[], context: DecoderContext, options: ChatDecoderOptions = {}) {
    this.#queue = queue;
    this.#context = context;
    this.#options = options;
    this.#reasoning = new ChatReasoning(context.wire, context.model);
    this.#segments = new SegmentWriter(queue, options.keepsReasoning === true ? () => this.#reasoning.take() : undefined);
    this.#calls = new ChatCalls(queue, context.wire);
  }

  skim(text: string, at: number): number {
    return this.#envelope.skim(text, at, this.#onText);
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
    if (this.#chunk(chunk) && isOnePieceOfText(this.#queue, before)) this.#envelope.learn(text, from, start, end);
  }

  whole(body: JsonValue): void {
    const answer: ChatAnswer | undefined = fieldsOf(Array.isArray(body) ? body[0] : body);
    if (answer === undefined) throw notAnAnswer(`${JSON.stringify(body).slice(0, 120)} instead of an object`, this.#context);
    this.#facts(answer);
    const choice = firstChoice(answer);
    if (choice !== undefined) {
      this.#sawChoice = true;
      this.#finish(choice);
      const message = fieldsOf(choice["message"]) ?? fieldsOf(choice["delta"]);
      if (message !== undefined) this.#message(message, true);
      this.#choiceError(choice);
    }
    if (!this.#sawChoice && !Array.isArray(answer["choices"]))
      throw notAnAnswer(`an object without choices: ${JSON.stringify(answer).slice(0, 120)}`, this.#context);
    this.#ended = true;
    this.finish();
  }

  finish(): void {
    if (this.complete) return;
    // Usage comes after the finish reason, so that only the end of input or [DONE] ends the answer.
    if (!this.#ended && (this.#finishReason === null || this.#finishReason === "")) throw cutOff(this.#context);
    const { wire, model } = this.#context;
    this.#endText();
    this.#calls.finish();
    if (this.#options.keepsReasoning === true && this.#reasoning.pending) {
      this.#segments.start("thinking");
      this.#segments.end();
    }
    if (this.#refusal !== "") this.#queue.push({ type: "content", part: { type: "refusal", text: this.#refusal } });
    for (const image of this.#images) this.#pushImage(stringOf(fieldsOf(image["image_url"])?.["url"]));
    if (this.#audio !== undefined) this.#pushAudio(this.#audio);
    const providerData: ProviderData = {
      wire,
      ...(this.#id !== "" && { id: this.#id }),
      ...(this.#fingerprint !== "" && { systemFingerprint: this.#fingerprint }),
    };
    this.#queue.push({
      type: "end",
      stopReason: stopReasonWithCalls(STOP_REASONS[this.#finishReason ?? ""] ?? "other", this.#calls.any),
      rawStopReason: this.#finishReason,
      usage: chatUsage(this.#usage),
      model: this.#model === "" ? model : this.#model,
      providerData,
    });
    this.complete = true;
  }

  /** Whether the chunk gave nothing but what its text may have given. */
  #chunk(chunk: ChatAnswer): boolean {
    this.#facts(chunk);
    const choice = firstChoice(chunk);
    if (choice === undefined) return false;
    this.#sawChoice = true;
    const finished = this.#finish(choice);
    const delta = fieldsOf(choice["delta"]);
    // `message` beside `delta` repeats all text so far (Perplexity).
    if (delta !== undefined) this.#message(delta, false);
    else if (fieldsOf(choice["message"]) !== undefined && this.#segments.open === undefined)
      this.#message(choice["message"] as ChatSaid, false);
    this.#choiceError(choice);
    return !finished && (chunk["usage"] ?? null) === null && chunk["x_groq"] === undefined && delta !== undefined && saysOnlyText(delta);
  }

  #facts(answer: ChatAnswer): void {
    const model = stringOf(answer["model"]);
    if (model !== "") this.#model = model;
    const id = stringOf(answer["id"]);
    if (id !== "") this.#id = id;
    const fingerprint = stringOf(answer["system_fingerprint"]);
    if (fingerprint !== "") this.#fingerprint = fingerprint;
    const usage = fieldsOf(answer["usage"]) ?? fieldsOf(fieldsOf(answer["x_groq"])?.["usage"]);
    if (usage !== undefined) this.#usage = usage;
    const error = answer["error"] ?? fieldsOf(answer["x_groq"])?.["error"];
    if (error !== undefined && error !== null) this.#raise({ error });
    if (answer["choices"] === undefined && stringOf(answer["object"]) === "error") this.#raise(answer);
  }

  #choiceError(choice: ChatChoice): void {
    if (fieldsOf(choice["error"]) !== undefined) this.#raise({ error: choice["error"] });
  }

  /** Partial text is no excuse for an error, but a turn that was cut off at its length stands. */
  #raise(body: Fields): void {
    if (this.#finishReason === "length") return;
    throw failureInAnswer(readVendorError(body), this.#context, this.#context.requestId);
  }

  #finish(choice: ChatChoice): boolean {
    const reason = choice["finish_reason"];
    if (typeof reason !== "string") return false;
    this.#finishReason = reason;
    return true;
  }

  #message(message: ChatSaid, whole: boolean): void {
    const reasoning = this.#reasoning.read(message);
    if (reasoning !== "") this.#segments.thinking(reasoning);
    this.#content(message["content"]);
    const refusal = stringOf(message["refusal"]);
    if (refusal !== "") {
      this.#endText();
      this.#refusal += refusal;
    }
    if (Array.isArray(message["annotations"])) this.#annotations.push(...(message["annotations"] as JsonValue[]));
    const calls = message["tool_calls"];
    if (Array.isArray(calls) && calls.length > 0) {
      this.#endText();
      if (whole) this.#calls.whole(calls);
      else this.#calls.fragments(calls);
    }
    const functionCall = fieldsOf(message["function_call"]);
    if (functionCall !== undefined) this.#calls.functionCall(functionCall);
    this.#media(message);
  }

  /** A string, or parts: Mistral changes between them within a stream. */
  #content(content: unknown): void {
    if (typeof content === "string") {
      if (content !== "") this.#segments.text(content);
      return;
    }
    if (!Array.isArray(content)) return;
    for (const value of content) {
      const part = fieldsOf(value);
      if (part === undefined) continue;
      if (part["type"] === "thinking") {
        const text = this.#reasoning.readPart(part);
        if (text !== "") this.#segments.thinking(text);
      } else if (part["type"] === "refusal") this.#refusal += stringOf(part["refusal"]);
      else if (part["type"] === "image_url") this.#images.push(part as JsonObject);
      else if (stringOf(part["text"]) !== "") this.#segments.text(stringOf(part["text"]));
    }
  }

  #endText(): void {
    const annotations = this.#annotations;
    if (this.#segments.open === "text" && annotations.length > 0) {
      this.#annotations = [];
      this.#segments.end({ wire: this.#context.wire, annotations });
    } else this.#segments.end();
  }

  #media(message: ChatSaid): void {
    if (Array.isArray(message["images"]))
      this.#images.push(
        ...message["images"]
          .map(fieldsOf)
          .filter((image) => image !== undefined)
          .map((image) => image as JsonObject),
      );
    const audio = fieldsOf(message["audio"]);
    if (audio === undefined) return;
    this.#audio ??= { id: "", data: [], transcript: "" };
    this.#audio.id ||= stringOf(audio["id"]);
    if (stringOf(audio["data"]) !== "") this.#audio.data.push(stringOf(audio["data"]));
    this.#audio.transcript += stringOf(audio["transcript"]);
  }

  #pushImage(url: string): void {
    const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url);
    if (inline !== null)
      this.#queue.push({ type: "content", part: { type: "image", mediaType: inline[1] as string, data: inline[2] as string } });
    else if (url !== "") this.#queue.push({ type: "content", part: { type: "image", mediaType: "image/*", url } });
  }

  #pushAudio({ id, data, transcript }: { id: string; data: readonly string[]; transcript: string }): void {
    if (id === "" && data.length === 0) return;
    const bytes = Buffer.concat(data.map((piece) => Buffer.from(piece, "base64")));
    const providerData: ProviderData = {
      wire: this.#context.wire,
      ...(id !== "" && { audio: id }),
      ...(transcript !== "" && { transcript }),
    };
    this.#queue.push({
      type: "content",
      part: { type: "file", mediaType: `audio/${this.#options.audioFormat ?? "wav"}`, data: bytes.toString("base64"), providerData },
    });
  }
}

function saysOnlyText(delta: Fields): boolean {
  return Object.entries(delta).every(([name, value]) => name === "role" || name === "content" || value === null || value === "");
}

/** Beside a text delta an event may have closed and opened segments. */
function isOnePieceOfText(queue: readonly InferEvent[], from: number): boolean {
  if (queue.at(-1)?.type !== "text-delta") return false;
  for (let at = from; at < queue.length - 1; at += 1) {
    const type = queue[at]?.type;
    if (type !== "text-start" && type !== "text-end" && type !== "thinking-end") return false;
  }
  return queue.length > from;
}

/** Other choices than the first are not asked for, and ignored where they come. */
function firstChoice(answer: ChatAnswer): ChatChoice | undefined {
  const choices = answer["choices"];
  if (!Array.isArray(choices)) return undefined;
  for (const value of choices) {
    const choice: ChatChoice | undefined = fieldsOf(value);
    if (choice !== undefined && (countOf(choice["index"]) ?? 0) === 0) return choice;
  }
  return undefined;
}
