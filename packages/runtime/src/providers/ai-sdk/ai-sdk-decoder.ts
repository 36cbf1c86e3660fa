import type { Content, InferEvent, JsonObject, JsonValue, ProviderData } from "@keelson/protocol";
import { parseJson } from "../../json/index.ts";
import { ArgumentText } from "../argument-text.ts";
import { HeldText } from "../held-text.ts";
import { cutOff, type DecoderContext, type Fields, fieldsOf, SegmentWriter, stringOf } from "../wire-decoder.ts";
import { readStopReason } from "../stop-reason.ts";
import { aiSdkFailure } from "./ai-sdk-failure.ts";
import { aiSdkUsage } from "./ai-sdk-usage.ts";
import { AI_SDK_STOP_REASONS } from "./ai-sdk-stop-reasons.ts";

interface OpenCall {
  readonly index: number;
  readonly name: string;
  readonly input: ArgumentText;
  /** Its end came. */
  ended?: true;
}

/** Makes events of the parts that a model streams. */
export class AiSdkDecoder {
  readonly #queue: InferEvent[];
  readonly #context: DecoderContext;
  /** What `ProviderData.model` gets: the metadata of one model is nothing to another. */
  readonly #owner: string;
  readonly #signal: AbortSignal | undefined;
  readonly #segments: SegmentWriter;
  readonly #metadata = new Map<string, JsonObject>();
  readonly #calls = new Map<string, OpenCall>();
  /** Calls that the vendor runs itself. */
  readonly #foreign = new Set<string>();
  /** The block that the open segment belongs to. */
  #block: string | undefined;
  #blank = true;
  #facts: Record<string, JsonValue> = {};
  #sources: JsonValue[] = [];
  #model = "";
  #any = false;
  #begun = 0;
  readonly #held: HeldText;
  complete = false;

  constructor(queue: InferEvent[], context: DecoderContext, owner: string, signal: AbortSignal | undefined) {
    this.#queue = queue;
    this.#context = context;
    this.#owner = owner;
    this.#signal = signal;
    this.#segments = new SegmentWriter(queue);
    this.#held = new HeldText(context);
  }

  /** @throws ModelError */
  part(value: unknown): void {
    const part = fieldsOf(value);
    if (part === undefined || this.complete) return;
    switch (part["type"]) {
      case "text-start":
      case "text-delta":
      case "text-end":
        return this.#blockPart("text", part);
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return this.#blockPart("thinking", part);
      case "tool-input-start":
        if (part["providerExecuted"] === true) this.#foreign.add(stringOf(part["id"]));
        else this.#openCall(stringOf(part["id"]), stringOf(part["toolName"]));
        return;
      case "tool-input-delta":
        return this.#callText(stringOf(part["id"]), stringOf(part["delta"]));
      case "tool-call":
        return part["providerExecuted"] === true ? this.#serverCall(part) : this.#call(part);
      case "tool-result":
        if (part["preliminary"] !== true) this.#serverResult(part);
        return;
      case "file":
        return this.#content(filePart(part, this.#data(part)));
      case "reasoning-file":
      case "custom":
      case "tool-approval-request":
        return this.#other(part);
      case "source": {
        const { type: _, ...source } = plain(part);
        this.#sources.push(source);
        return;
      }
      case "stream-start":
        if (Array.isArray(part["warnings"]) && part["warnings"].length > 0)
          this.#facts["warnings"] = plain({ warnings: part["warnings"] })["warnings"] as JsonValue;
        return;
      case "response-metadata":
        if (stringOf(part["id"]) !== "") this.#facts["id"] = stringOf(part["id"]);
        if (stringOf(part["modelId"]) !== "") this.#model = stringOf(part["modelId"]);
        return;
      case "error":
        throw aiSdkFailure(part["error"], this.#context, this.#signal);
      case "finish":
        this.#finish(part);
    }
  }

  /** The stream is over. @throws ModelError when it had no end */
  finish(): void {
    if (!this.complete) throw cutOff(this.#context);
  }

  /** Blocks may interleave; our segments follow each other. What a block is told of its metadata, at whatever point, is joined. */
  #blockPart(type: "text" | "thinking", part: Fields): void {
    const block = `${type}:${stringOf(part["id"])}`;
    const kind = stringOf(part["type"]);
    const metadata = metadataOf(part);
    if (metadata !== undefined) this.#metadata.set(block, mergeMetadata(this.#metadata.get(block), metadata));
    const ends = kind.endsWith("-end");
    if (this.#block !== block && (!ends || this.#metadata.has(block))) {
      this.#closeBlock();
      this.#segments.start(type);
      this.#block = block;
      this.#blank = true;
    }
    const delta = stringOf(part["delta"]);
    if (delta !== "") {
      this.#segments[type](delta);
      this.#blank = false;
    }
    if (ends && this.#block === block) this.#closeBlock();
  }

  #closeBlock(): void {
    if (this.#block === undefined) return;
    const metadata = this.#metadata.get(this.#block);
    const thinking = this.#block.startsWith("thinking:");
    this.#metadata.delete(this.#block);
    this.#block = undefined;
    // Thinking goes back without metadata, too, but only to its own model.
    if (metadata === undefined && (!thinking || this.#blank)) this.#segments.end();
    else this.#segments.end(this.#owned(metadata));
  }

  #openCall(id: string, name: string): OpenCall {
    this.#closeBlock();
    const call: OpenCall = { index: this.#begun++, name, input: new ArgumentText() };
    this.#calls.set(id, call);
    this.#queue.push({ type: "tool-call-start", index: call.index, id, name });
    return call;
  }

  #callText(id: string, text: string): void {
    const call = this.#calls.get(id);
    if (call === undefined || call.ended) return;
    const { pending } = call.input;
    call.input.add(text);
    this.#held.add(Math.max(0, call.input.pending - pending));
    this.#flow(call);
  }

  #flow({ index, input }: OpenCall): void {
    const text = input.take();
    if (text !== "") this.#queue.push({ type: "tool-call-delta", index, text });
  }

  /** Comes after the pieces of its input, or alone. */
  #call(part: Fields): void {
    const id = stringOf(part["toolCallId"]);
    this.#any = true;
    const name = stringOf(part["toolName"]);
    const input = typeof part["input"] === "string" ? part["input"] : JSON.stringify(part["input"] ?? {});
    const known = this.#calls.get(id);
    // A part that is repeated is the same call; another call may have the same id, or none.
    if (known?.ended && known.name === name && known.input.isText(input)) return;
    const call = known === undefined || known.ended ? this.#openCall(id, name) : known;
    call.input.finish(input);
    this.#flow(call);
    call.ended = true;
    this.#queue.push({ type: "tool-call-end", index: call.index, providerData: { ...this.#data(part), id } });
  }

  #serverCall(part: Fields): void {
    const name = stringOf(part["toolName"]);
    const input = parsed(part["input"]);
    const kept = { type: "tool-call", toolCallId: stringOf(part["toolCallId"]), toolName: name, input, providerExecuted: true };
    this.#content({
      type: "server-tool",
      name,
      text: `${name}(${JSON.stringify(input)})`,
      providerData: { ...this.#data(part), part: kept },
    });
  }

  #serverResult(part: Fields): void {
    const name = stringOf(part["toolName"]);
    const { result } = plain(part);
    const output = { type: part["isError"] === true ? "error-json" : "json", value: result ?? null };
    const kept = { type: "tool-result", toolCallId: stringOf(part["toolCallId"]), toolName: name, output };
    const text = typeof result === "string" ? result : JSON.stringify(result ?? null);
    this.#content({ type: "server-tool", name: `${name}_result`, text, providerData: { ...this.#data(part), part: kept } });
  }

  #other(part: Fields): void {
    const { providerMetadata: _, ...kept } = part;
    this.#content({ type: "other", raw: plain(part), providerData: { ...this.#data(part), part: plain(kept) } });
  }

  #content(part: Content): void {
    this.#closeBlock();
    this.#queue.push({ type: "content", part });
  }

  #finish(part: Fields): void {
    const { wire, model } = this.#context;
    const reason = fieldsOf(part["finishReason"]);
    const unified = stringOf(reason === undefined ? part["finishReason"] : reason["unified"]);
    const vendorReason = stringOf(reason?.["raw"]);
    const raw = vendorReason || unified;
    // The SDK's words for a vendor that gave no reason; with one, it is a reason that the SDK does not know.
    const isMissing = vendorReason === "" && (unified === "other" || unified === "unknown");
    this.#closeBlock();
    const metadata = metadataOf(part);
    this.#queue.push({
      type: "end",
      stopReason: readStopReason(AI_SDK_STOP_REASONS, isMissing ? null : unified, this.#any),
      rawStopReason: raw === "" ? null : raw,
      usage: aiSdkUsage(fieldsOf(part["usage"])),
      model: this.#model === "" ? model : this.#model,
      providerData: {
        wire,
        ...this.#facts,
        ...(this.#sources.length > 0 && { sources: this.#sources }),
        ...(metadata && { providerMetadata: metadata }),
      },
    });
    this.complete = true;
  }

  #data(part: Fields): ProviderData {
    return this.#owned(metadataOf(part));
  }

  #owned(metadata: JsonObject | undefined): ProviderData {
    return { wire: this.#context.wire, model: this.#owner, ...(metadata && { providerMetadata: metadata }) };
  }
}

function metadataOf(part: Fields): JsonObject | undefined {
  const metadata = fieldsOf(part["providerMetadata"]);
  return metadata === undefined || Object.keys(metadata).length === 0 ? undefined : plain(metadata);
}

/** By provider, then by name. */
function mergeMetadata(before: JsonObject | undefined, after: JsonObject): JsonObject {
  if (before === undefined) return after;
  const merged: Record<string, JsonValue> = { ...(before as Record<string, JsonValue>) };
  for (const [provider, values] of Object.entries(after) as [string, JsonValue][])
    merged[provider] = { ...(fieldsOf(merged[provider]) as JsonObject | undefined), ...(fieldsOf(values) as JsonObject | undefined) };
  return merged;
}

/** Bytes or base64, bare or tagged, or an address. */
function filePart(part: Fields, providerData: ProviderData): Content {
  const mediaType = stringOf(part["mediaType"]) || "application/octet-stream";
  const tagged = part["data"] instanceof Uint8Array ? undefined : fieldsOf(part["data"]);
  const url = tagged?.["type"] === "url" ? String(tagged["url"]) : undefined;
  const bytes = tagged === undefined ? part["data"] : tagged["data"];
  const where = url === undefined ? { data: base64(bytes) } : { url };
  return { type: mediaType.startsWith("image/") ? "image" : "file", mediaType, ...where, providerData };
}

function base64(bytes: unknown): string {
  return bytes instanceof Uint8Array ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64") : stringOf(bytes);
}

function parsed(input: unknown): JsonValue {
  if (typeof input !== "string") return (input ?? {}) as JsonValue;
  try {
    return input === "" ? {} : parseJson(input);
  } catch {
    return input;
  }
}

/** As JSON, since it goes into logs: bytes become base64, addresses and dates text. */
function plain(part: Fields): JsonObject {
  const text = JSON.stringify(part, function (this: Fields, name, value: unknown) {
    const own = this[name];
    return own instanceof Uint8Array ? base64(own) : value;
  });
  return JSON.parse(text) as JsonObject;
}
