import type { JsonObject, JsonValue, ProviderData } from "@keelson/protocol";
import { ArgumentText } from "../argument-text.ts";
import type { HeldText } from "../held-text.ts";
import type { DecodedEvent } from "../polled-events.ts";
import { argumentText, sentArguments } from "../sent-arguments.ts";
import { type DecoderContext, fieldsOf, madeUpCallId, type SegmentWriter, stringOf } from "../wire-decoder.ts";
import type { ResponsesOutput, ResponsesOutputPart } from "./responses-wire.ts";
import { type Echo, SaidText } from "./said-text.ts";
import { serverItemParts } from "./server-item.ts";

/** What is known of the whole response. */
export interface ResponseFacts {
  id: string;
  /** Whether the vendor keeps the response: only then it knows reasoning by its id alone. */
  stored: boolean;
}

/** One item of the output while it comes in. Streamed or not, `done` takes its final form and gives what was not given yet. */
export interface OpenItem {
  /** Another item has something to say: what this one left open is closed. */
  leave(): void;
  done(item: ResponsesOutput): void;
}

/** Where items put what they hold. One of them has the floor: the segment that is open is its own. */
export class ItemSink {
  readonly queue: DecodedEvent[];
  readonly segments: SegmentWriter;
  readonly context: DecoderContext;
  readonly facts: ResponseFacts;
  readonly held: HeldText;
  readonly said: SaidText = new SaidText();
  #floor: OpenItem | undefined;
  #calls = 0;

  constructor(queue: DecodedEvent[], segments: SegmentWriter, context: DecoderContext, facts: ResponseFacts, held: HeldText) {
    this.queue = queue;
    this.segments = segments;
    this.context = context;
    this.facts = facts;
    this.held = held;
  }

  take(item: OpenItem | undefined): void {
    if (this.#floor === item) return;
    this.#floor?.leave();
    this.#floor = item;
  }

  get calls(): number {
    return this.#calls;
  }

  nextCallIndex(): number {
    return this.#calls++;
  }

  /** What marks an item as one of this model at this provider, who alone knows its id and can read what is encrypted. */
  origin(): ProviderData {
    return { wire: this.context.wire, model: this.context.model, provider: this.context.provider };
  }
}

/** The text and refusals of one message; each of its parts is a segment. */
export class MessageItem implements OpenItem {
  readonly #sink: ItemSink;
  readonly #id: string;
  readonly #phase: string;
  readonly #given = new Set<number>();
  /** Takes out what repeats the messages before this one. */
  readonly #echo: Echo | undefined;
  /** The part whose segment is open. */
  #part = -1;
  #refusal = "";

  constructor(sink: ItemSink, start: ResponsesOutput) {
    this.#sink = sink;
    this.#id = stringOf(start["id"]);
    this.#phase = stringOf(start["phase"]);
    this.#echo = sink.said.echo();
  }

  text(part: number, given: string): void {
    this.#given.add(part);
    const text = this.#echo === undefined ? given : this.#echo.rest(given);
    if (text === "" || this.#sink.said.isRepeated(text)) return;
    this.#say(part, text);
  }

  #say(part: number, text: string): void {
    this.#sink.take(this);
    this.#sink.said.add(text);
    if (part !== this.#part) {
      this.leave();
      this.#part = part;
    }
    this.#sink.segments.text(text);
  }

  refusal(part: number, text: string): void {
    this.#given.add(part);
    this.#sink.held.add(text.length);
    this.#refusal += text;
  }

  /** The final form of one part: its citations are known now. */
  partDone(at: number, part: ResponsesOutputPart): void {
    if (!this.#given.has(at)) {
      if (part["type"] === "refusal") this.refusal(at, stringOf(part["refusal"]));
      else this.text(at, stringOf(part["text"]));
    }
    if (this.#part !== at) return;
    this.#part = -1;
    this.#sink.segments.end(this.#data(part["annotations"]));
  }

  leave(): void {
    if (this.#part < 0) return;
    this.#part = -1;
    this.#sink.segments.end(this.#data(undefined));
  }

  done(item: ResponsesOutput): void {
    const told = item["content"];
    const content = Array.isArray(told) ? told : typeof told === "string" ? [{ type: "output_text", text: told }] : [];
    for (const [at, value] of content.entries()) {
      const part = fieldsOf(value);
      if (part !== undefined && (!this.#given.has(at) || this.#part === at)) this.partDone(at, part);
    }
    const kept = this.#echo?.end() ?? "";
    if (kept !== "") this.#say(0, kept);
    this.leave();
    if (this.#refusal === "") return;
    this.#sink.take(this);
    this.#sink.queue.push({
      type: "content",
      part: { type: "refusal", text: this.#refusal, ...(this.#id !== "" && { providerData: this.#data(undefined) as ProviderData }) },
    });
  }

  #data(annotations: unknown): ProviderData | undefined {
    const cited = Array.isArray(annotations) && annotations.length > 0;
    if (this.#id === "" && this.#phase === "" && !cited) return undefined;
    return {
      ...this.#sink.origin(),
      ...(this.#id !== "" && { itemId: this.#id }),
      ...(this.#phase !== "" && { phase: this.#phase }),
      ...(cited && { annotations: annotations as readonly JsonValue[] }),
    };
  }
}

/** What a reasoning item shows: parts of a summary, or the reasoning itself. */
export type ReasoningKind = "summary" | "text";

/** Each part is a segment; the last of them, if need be an empty one, carries what the vendor wants back of the whole item. */
export class ReasoningItem implements OpenItem {
  readonly #sink: ItemSink;
  readonly #id: string;
  #open: string | undefined;
  #kind: ReasoningKind = "summary";
  #any = false;

  constructor(sink: ItemSink, start: ResponsesOutput) {
    this.#sink = sink;
    this.#id = stringOf(start["id"]);
  }

  thinking(kind: ReasoningKind, part: number, text: string): void {
    if (text === "") return;
    this.#sink.take(this);
    const key = `${kind} ${part}`;
    if (key !== this.#open) {
      this.leave();
      this.#open = key;
      this.#kind = kind;
    }
    this.#any = true;
    this.#sink.segments.thinking(text);
  }

  leave(): void {
    if (this.#open === undefined) return;
    this.#open = undefined;
    this.#sink.segments.end({ ...this.#sink.origin(), itemId: this.#id, part: this.#kind, more: true });
  }

  done(item: ResponsesOutput): void {
    if (!this.#any) {
      for (const kind of ["summary", "text"] as const) {
        const parts = item[kind === "summary" ? "summary" : "content"];
        for (const [at, part] of (Array.isArray(parts) ? parts : []).entries()) this.thinking(kind, at, stringOf(fieldsOf(part)?.["text"]));
      }
    }
    const encrypted = stringOf(item["encrypted_content"]);
    const itemId = stringOf(item["id"]) || this.#id;
    const stored = this.#sink.facts.stored && itemId !== "";
    const data: ProviderData = { ...this.#sink.origin(), itemId, ...(encrypted !== "" && { encrypted }), ...(stored && { stored }) };
    if (this.#open !== undefined) {
      this.#open = undefined;
      this.#sink.segments.end({ ...data, part: this.#kind });
    } else if (encrypted !== "" || stored) {
      this.#sink.take(this);
      this.#sink.segments.start("thinking");
      this.#sink.segments.end(data);
    }
  }
}

/** A call of a function, or of a custom tool, whose input is free text. */
export class CallItem implements OpenItem {
  readonly #sink: ItemSink;
  readonly #custom: boolean;
  readonly #text = new ArgumentText();
  #index: number | undefined;

  constructor(sink: ItemSink, start: ResponsesOutput) {
    this.#sink = sink;
    this.#custom = start["type"] === "custom_tool_call";
    this.#begin(start);
  }

  input(given: unknown): void {
    const text = argumentText(given);
    const { pending } = this.#text;
    if (this.#custom) this.#text.join(text);
    else this.#text.add(text);
    this.#sink.held.add(this.#index === undefined ? text.length : Math.max(0, this.#text.pending - pending));
    this.#flow();
  }

  /** The whole input. It is taken where no pieces came, or where they are its beginning. */
  whole(input: unknown): void {
    this.#text.finish(argumentText(input));
    this.#flow();
  }

  leave(): void {
    // Calls may interleave with what else comes.
  }

  done(item: ResponsesOutput): void {
    this.#begin(item);
    this.whole(sentArguments(item, this.#custom ? "input" : "arguments"));
    // A placeholder. With arguments, a call without a name stays one, so that the model is told of it.
    if (this.#index === undefined && this.#text.object !== undefined) this.#start(item);
    if (this.#index === undefined) return;
    const id = stringOf(item["call_id"]);
    const itemId = stringOf(item["id"]);
    const { facts } = this.#sink;
    const providerData: ProviderData = {
      ...this.#sink.origin(),
      ...(id !== "" && { id }),
      ...(itemId !== "" && { itemId }),
      // Some servers count their calls anew in each response (Bedrock), so that the response's id tells them apart.
      ...(/^call_\d{1,4}$/.test(id) && facts.id !== "" && { responseId: facts.id }),
    };
    this.#sink.queue.push({ type: "tool-call-end", index: this.#index, providerData });
  }

  #flow(): void {
    if (this.#index === undefined) return;
    const text = this.#text.take();
    if (text !== "") this.#sink.queue.push({ type: "tool-call-delta", index: this.#index, text });
  }

  #begin(item: ResponsesOutput): void {
    if (this.#index === undefined && stringOf(item["name"]) !== "") this.#start(item);
  }

  #start(item: ResponsesOutput): void {
    const name = stringOf(item["name"]);
    this.#sink.take(this);
    this.#index = this.#sink.nextCallIndex();
    const id = stringOf(item["call_id"]) || madeUpCallId();
    this.#sink.queue.push({ type: "tool-call-start", index: this.#index, id, name, ...(this.#custom && { custom: true }) });
    this.#flow();
  }
}

/** What the server did itself, or something new: kept whole for the vendor. */
export class ServerItem implements OpenItem {
  readonly #sink: ItemSink;

  constructor(sink: ItemSink) {
    this.#sink = sink;
  }

  leave(): void {
    // It comes whole.
  }

  done(item: ResponsesOutput): void {
    this.#sink.take(this);
    for (const part of serverItemParts(item as JsonObject, this.#sink.origin())) this.#sink.queue.push({ type: "content", part });
  }
}
