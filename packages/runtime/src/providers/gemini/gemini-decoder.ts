import type { Content, JsonObject, JsonValue, ProviderData, Usage } from "@keelson/protocol";
import { jsonText } from "../../json/index.ts";
import { HeldText } from "../held-text.ts";
import type { DecodedEvent } from "../polled-events.ts";
import { RepeatedCalls } from "../repeated-calls.ts";
import { sentArguments } from "../sent-arguments.ts";
import { readStopReason } from "../stop-reason.ts";
import { failureInResponse, readVendorError } from "../vendor-failure.ts";
import {
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
import { GEMINI_STOP_REASONS } from "./gemini-stop-reasons.ts";
import { GeminiUsage } from "./gemini-usage.ts";
import type { GeminiResponse, GeminiCalled, GeminiCandidate, GeminiSaid } from "./gemini-wire.ts";
import { PartialArguments } from "./partial-arguments.ts";

/** Vertex writes numbers for its words when it is asked to (`$alt=json;enum-encoding=int`). */
const NUMBERED = [
  "FINISH_REASON_UNSPECIFIED",
  "STOP",
  "MAX_TOKENS",
  "SAFETY",
  "RECITATION",
  "OTHER",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "MALFORMED_FUNCTION_CALL",
  "MODEL_ARMOR",
];
/** What of a candidate tells where its words come from. */
const SOURCES = ["groundingMetadata", "citationMetadata", "urlContextMetadata", "finishMessage"] as const;

/** A call whose arguments are still coming. */
interface OpenCall {
  readonly index: number;
  readonly providerData: ProviderData | undefined;
  readonly input: PartialArguments;
}

/** Decodes responses of `generateContent` and `streamGenerateContent`: events, one JSON array, or one whole. */
export class GeminiDecoder implements WireDecoder {
  readonly sequence = "array";
  readonly #queue: DecodedEvent[];
  readonly #context: DecoderContext;
  readonly #segments: SegmentWriter;
  readonly #usage: GeminiUsage;
  readonly #held: HeldText;
  readonly #repeated = new RepeatedCalls();
  #calls = 0;
  #openCall: OpenCall | undefined;
  #finishReason: string | null = null;
  #blocked = false;
  #ended = false;
  #facts: Record<string, JsonValue> = {};
  #model = "";
  complete = false;

  constructor(queue: DecodedEvent[], context: DecoderContext) {
    this.#queue = queue;
    this.#context = context;
    this.#usage = new GeminiUsage(context);
    this.#segments = new SegmentWriter(queue);
    this.#held = new HeldText(context);
  }

  /** Every event carries other counts, so that no two share an envelope. */
  skim(_text: string, at: number): number {
    return at;
  }

  event(text: string, start: number, end: number): void {
    const data = text.slice(start, end);
    // Gateways end streams of every kind so.
    if (data.trim() === "[DONE]") this.finish();
    else this.#takeResponse(parseEvent(data, this.#context));
  }

  whole(body: JsonValue): void {
    const response: GeminiResponse | undefined = fieldsOf(body);
    if (response === undefined) throw invalidResponse(`${JSON.stringify(body).slice(0, 120)} instead of an object`, this.#context);
    this.#takeResponse(response);
    if (!Array.isArray(response["candidates"]) && !this.#blocked)
      throw invalidResponse(`an object without candidates: ${JSON.stringify(response).slice(0, 120)}`, this.#context);
    this.#ended = true;
    this.finish();
  }

  /** Every chunk tells what was counted so far; that with the reason tells all of it. */
  get reported(): Usage | undefined {
    return this.#finishReason === null ? undefined : this.#usage.read();
  }

  finish(): void {
    if (this.complete) return;
    // More may follow the finish reason, so that only the end of input or [DONE] ends the response.
    if (!this.#ended && this.#finishReason === null) throw cutOff(this.#context);
    const { wire, model } = this.#context;
    this.#segments.end();
    // A call that is still open was cut: it stays without its end, so that it is not run.
    if (this.#openCall !== undefined) this.#callText(this.#openCall.index, this.#openCall.input.value);
    this.#queue.push({
      type: "end",
      stopReason: this.#blocked ? "content-filter" : readStopReason(GEMINI_STOP_REASONS, nameOf(this.#finishReason), this.#calls > 0),
      rawStopReason: this.#finishReason,
      usage: this.#usage.read(),
      model: this.#model === "" ? model : this.#model,
      providerData: { wire, ...this.#facts },
    });
    this.complete = true;
  }

  #takeResponse(response: GeminiResponse): void {
    if (response["error"] !== undefined && response["error"] !== null)
      throw failureInResponse(readVendorError(response), this.#context, this.#context.requestId);
    if (stringOf(response["modelVersion"]) !== "") this.#model = stringOf(response["modelVersion"]);
    if (stringOf(response["responseId"]) !== "") this.#facts["id"] = stringOf(response["responseId"]);
    this.#usage.merge(fieldsOf(response["usageMetadata"] ?? (response as Fields)["usage_metadata"]));
    const feedback = fieldsOf(response["promptFeedback"]);
    const blockReason = reasonOf(feedback?.["blockReason"]);
    if (blockReason !== null) {
      this.#blocked = true;
      this.#finishReason = blockReason;
      this.#facts["promptFeedback"] = feedback as JsonObject;
    }
    const candidate = firstCandidate(response);
    if (candidate === undefined) return;
    const parts = fieldsOf(candidate["content"])?.["parts"];
    if (Array.isArray(parts)) for (const part of parts.map(fieldsOf)) if (part !== undefined) this.#part(part);
    this.#finishReason = reasonOf(candidate["finishReason"]) ?? this.#finishReason;
    for (const name of SOURCES) if (candidate[name] !== undefined) this.#facts[name] = candidate[name] as JsonValue;
  }

  #part(said: GeminiSaid): void {
    const part = renamed(said);
    const signature = stringOf(part["thoughtSignature"]);
    const thought = part["thought"] === true;
    const call = fieldsOf(part["functionCall"]);
    if (call !== undefined) {
      // Some gateways put a text into the part of the call. The signature is that of the call.
      this.#text(thought ? "thinking" : "text", stringOf(part["text"]), "");
      this.#call(call as GeminiCalled, signature);
    } else if (typeof part["text"] === "string") this.#text(thought ? "thinking" : "text", part["text"], signature);
    else {
      const content = this.#wholePart(part, signature, thought);
      if (content === undefined) return;
      this.#segments.end();
      this.#queue.push({ type: "content", part: content });
    }
  }

  /** A signature belongs to the part it came in, which must go back unjoined with others; often it comes with an empty text. */
  #text(type: "text" | "thinking", text: string, signature: string): void {
    if (signature !== "") this.#segments.start(type);
    if (text !== "") this.#segments[type](text);
    if (signature !== "") this.#segments.end(this.#signed(signature));
  }

  #call(call: GeminiCalled, signature: string): void {
    const name = stringOf(call["name"]);
    const args = sentArguments(call as Fields, "args") ?? {};
    // A call without a name goes on with the one before it. With arguments of its own it stays a call, so that the model is told of it.
    if (name === "" && (this.#openCall !== undefined || JSON.stringify(args) === "{}")) {
      // A further piece of the call before, or its end.
      this.#openCall?.input.add(call["partialArgs"]);
      if (call["willContinue"] !== true) this.#closeCall();
      return;
    }
    const id = stringOf(call["id"]);
    if (call["willContinue"] !== true && call["partialArgs"] === undefined && this.#repeated.add(id, name, JSON.stringify(args))) return;
    this.#segments.end();
    this.#closeCall();
    const index = this.#calls++;
    const providerData =
      id === "" && signature === ""
        ? undefined
        : { wire: this.#context.wire, ...(signature !== "" && this.#signed(signature)), ...(id !== "" && { id }) };
    this.#queue.push({ type: "tool-call-start", index, id: id === "" ? madeUpCallId() : id, name });
    if (call["willContinue"] === true || call["partialArgs"] !== undefined) {
      const input = new PartialArguments(this.#held);
      input.add(call["partialArgs"]);
      this.#openCall = { index, providerData, input };
      if (call["willContinue"] !== true) this.#closeCall();
      return;
    }
    this.#endCall(index, args as JsonValue, providerData);
  }

  #closeCall(): void {
    const open = this.#openCall;
    if (open === undefined) return;
    this.#openCall = undefined;
    this.#endCall(open.index, open.input.value, open.providerData);
  }

  #endCall(index: number, input: JsonValue, providerData: ProviderData | undefined): void {
    this.#callText(index, input);
    this.#queue.push({ type: "tool-call-end", index, ...(providerData && { providerData }) });
  }

  #callText(index: number, input: JsonValue): void {
    this.#queue.push({ type: "tool-call-delta", index, text: typeof input === "string" ? input : jsonText(input) });
  }

  /** What comes whole: media, what the vendor ran itself, what is new. */
  #wholePart(part: GeminiSaid, signature: string, thought: boolean): Content | undefined {
    const { wire } = this.#context;
    const raw = part as JsonObject;
    const kept: ProviderData = { wire, part: raw };
    const code = fieldsOf(part["executableCode"]);
    if (code !== undefined) return { type: "server-tool", name: "code_execution", text: stringOf(code["code"]), providerData: kept };
    const result = fieldsOf(part["codeExecutionResult"]);
    if (result !== undefined)
      return {
        type: "server-tool",
        name: "code_execution_result",
        text: stringOf(result["output"]) || stringOf(result["outcome"]),
        providerData: kept,
      };
    for (const name of ["toolCall", "toolResponse"] as const) {
      const tool = fieldsOf(part[name]);
      if (tool === undefined) continue;
      const words = jsonText(tool["args"] ?? tool["response"] ?? {});
      return { type: "server-tool", name: stringOf(tool["toolType"]).toLowerCase() || name, text: words, providerData: kept };
    }
    const inline = fieldsOf(part["inlineData"]);
    const file = fieldsOf(part["fileData"]);
    const media = inline ?? file;
    // Images that the model only thought of are none of the response.
    if (media !== undefined && !thought) {
      const mediaType = stringOf(media["mimeType"]) || "application/octet-stream";
      const bytes = inline === undefined ? { url: stringOf(media["fileUri"]) } : { data: stringOf(media["data"]) };
      const providerData = signature === "" ? {} : { providerData: this.#signed(signature) };
      return { type: mediaType.startsWith("image/") ? "image" : "file", mediaType, ...bytes, ...providerData };
    }
    // Nothing but a signature, or nothing at all.
    if (Object.keys(part).every((name) => name === "thought" || name === "thoughtSignature")) {
      if (signature !== "") this.#text(thought ? "thinking" : "text", "", signature);
      return undefined;
    }
    return { type: "other", raw, providerData: { wire } };
  }

  #signed(thoughtSignature: string): ProviderData {
    const { wire, model } = this.#context;
    return { wire, model, thoughtSignature };
  }
}

/** Further candidates are of no interest. */
function firstCandidate(response: GeminiResponse): GeminiCandidate | undefined {
  const candidates = response["candidates"];
  if (!Array.isArray(candidates)) return undefined;
  return candidates.map(fieldsOf).find((candidate) => candidate !== undefined && (candidate["index"] ?? 0) === 0);
}

/** A part in the spelling of gateways that are written in Python, with its members in Google's. */
function renamed(part: Fields): GeminiSaid {
  const { function_call: functionCall, thought_signature: thoughtSignature, ...rest } = part;
  if (functionCall === undefined) return part;
  return { functionCall, ...(thoughtSignature !== undefined && { thoughtSignature }), ...rest };
}

function reasonOf(value: unknown): string | null {
  if (typeof value === "number") return value === 0 ? null : String(value);
  return typeof value === "string" && value !== "" && !value.endsWith("_UNSPECIFIED") ? value : null;
}

function nameOf(reason: string | null): string {
  return reason !== null && /^\d+$/.test(reason) ? (NUMBERED[Number(reason)] ?? reason) : (reason ?? "");
}
