import type {
  CallId,
  Content,
  InferEnd,
  InferEvent,
  InferResponse,
  JsonValue,
  ProviderData,
  RateLimit,
  ToolCallPart,
  Usd,
} from "@keelson/protocol";
import { parseJson } from "../json/index.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { credibleUsage } from "./token-count/credible-usage.ts";

/** 16 MiB: what one response may hold before whoever folds it stops reading. */
export const DEFAULT_MAX_ANSWER_BYTES: number = 16 * 1024 * 1024;

/** What one response may ask for at once. */
export const DEFAULT_MAX_ANSWER_CALLS = 128;

/** The pieces are slices of network chunks, which they keep alive, so that they are copied together every so often. */
const MAX_PIECES = 1024;

export interface FoldOptions {
  /** Bound of the response's text, thinking, arguments and parts together, in UTF-8 bytes. Default {@link DEFAULT_MAX_ANSWER_BYTES}. */
  readonly maxAnswerBytes?: number | undefined;
  /** Bound of its tool calls. Default {@link DEFAULT_MAX_ANSWER_CALLS}. */
  readonly maxAnswerCalls?: number | undefined;
}

/** What grows by many small pieces of text. */
interface Growing {
  joined: string;
  /** What came since. */
  pieces: string[];
}

interface OpenSegment extends Growing {
  readonly type: "text" | "thinking";
  providerData?: ProviderData;
}
interface OpenCall extends Growing {
  readonly type: "tool-call";
  readonly id: string;
  readonly name: string;
  readonly custom: boolean;
  complete: boolean;
  providerData?: ProviderData;
}
type Slot = OpenSegment | OpenCall | { readonly type: "whole"; readonly part: Content };

/**
 * Folds the events of one model call into its content, in order of appearance. Holds at most `maxAnswerBytes`
 * and `maxAnswerCalls`: the event that would pass a bound and all content after it are dropped, and `overflowed` says so. Nothing here throws.
 */
export class InferFold {
  readonly #maxBytes: number;
  readonly #maxCalls: number;
  readonly #slots: Slot[] = [];
  #calls: Map<number, OpenCall> | undefined;
  #segment: OpenSegment | undefined;
  /** At least the bytes so far: a UTF-16 unit is three of them at most. Counted exactly once this bound passes the limit. */
  #bound = 0;
  #exact = false;
  /** The response passed a bound: stop reading it. */
  overflowed = false;
  /** The last event, once it came. Without it the response is not whole. */
  end: InferEnd | undefined;
  /** What the vendor last told of his limits. */
  rateLimit: RateLimit | undefined;

  constructor(options: FoldOptions = {}) {
    checkOptionNames("InferFold", options, { maxAnswerBytes: true, maxAnswerCalls: true });
    this.#maxBytes = options.maxAnswerBytes ?? DEFAULT_MAX_ANSWER_BYTES;
    this.#maxCalls = options.maxAnswerCalls ?? DEFAULT_MAX_ANSWER_CALLS;
  }

  push(event: InferEvent): void {
    switch (event.type) {
      case "text-delta":
      case "thinking-delta": {
        const type = event.type === "text-delta" ? "text" : "thinking";
        if (this.#segment?.type !== type) this.#open(type);
        if (this.#admit(event.text)) grow(this.#segment, event.text);
        return;
      }
      case "text-start":
        this.#open("text");
        return;
      case "thinking-start":
        this.#open("thinking");
        return;
      case "text-end":
      case "thinking-end":
        if (this.#segment !== undefined && event.providerData !== undefined && this.#admitData(event.providerData))
          this.#segment.providerData = event.providerData;
        this.#segment = undefined;
        return;
      case "tool-call-start": {
        this.#segment = undefined;
        if ((this.#calls?.size ?? 0) >= this.#maxCalls) this.overflowed = true;
        if (this.overflowed) return;
        // Together: what is admitted stands in a slot before the next is counted.
        if (!this.#admit(event.id + event.name)) return;
        const call: OpenCall = {
          type: "tool-call",
          id: event.id,
          name: event.name,
          custom: event.custom === true,
          complete: false,
          joined: "",
          pieces: [],
        };
        (this.#calls ??= new Map()).set(event.index, call);
        this.#slots.push(call);
        return;
      }
      case "tool-call-delta":
        if (this.#admit(event.text)) grow(this.#calls?.get(event.index), event.text);
        return;
      case "tool-call-end": {
        const call = this.#calls?.get(event.index);
        if (call === undefined || this.overflowed) return;
        if (event.providerData !== undefined) call.providerData = event.providerData;
        call.complete = true;
        return;
      }
      case "content":
        this.#segment = undefined;
        if (this.#admitData(event.part)) this.#slots.push({ type: "whole", part: event.part });
        return;
      case "end":
        this.end = { ...event, usage: credibleUsage(event.usage) };
        return;
      case "rate-limit":
        this.rateLimit = event.rateLimit;
        return;
    }
  }

  /** Whether a delta of this text surely does not make the response too long. Near the bound there may be room all the same. */
  fits(text: string): boolean {
    return !this.#exact && this.#bound + text.length * 3 <= this.#maxBytes;
  }

  /** UTF-8 bytes of the content so far. */
  get bytes(): number {
    let bytes = 0;
    for (const slot of this.#slots) {
      if (slot.type === "whole") bytes += Buffer.byteLength(JSON.stringify(slot.part));
      else {
        bytes += Buffer.byteLength(textOf(slot));
        if (slot.type === "tool-call") bytes += Buffer.byteLength(slot.id) + Buffer.byteLength(slot.name);
        else if (slot.providerData !== undefined) bytes += Buffer.byteLength(JSON.stringify(slot.providerData));
      }
    }
    return bytes;
  }

  /** The calls so far, with the text of their arguments. */
  get calls(): readonly { readonly index: number; readonly name: string; readonly text: string }[] {
    return [...(this.#calls ?? [])].map(([index, call]) => ({ index, name: call.name, text: textOf(call) }));
  }

  /** The text so far. */
  get text(): string {
    let text = "";
    for (const slot of this.#slots) {
      if (slot.type === "text") text += textOf(slot);
      else if (slot.type === "whole" && slot.part.type === "text") text += slot.part.text;
    }
    return text;
  }

  /**
   * The content so far. A call that is still open has no `input`; segments that stayed empty are left out, unless the vendor
   * wants their `providerData` back.
   */
  get content(): readonly Content[] {
    const content: Content[] = [];
    for (const slot of this.#slots) {
      if (slot.type === "whole") content.push(slot.part);
      else if (slot.type === "tool-call") content.push(toolCallPart(slot));
      else {
        const text = textOf(slot);
        if (text !== "" || slot.providerData !== undefined)
          content.push({ type: slot.type, text, ...(slot.providerData && { providerData: slot.providerData }) });
      }
    }
    return content;
  }

  /** The whole response; `undefined` until its `end` came. */
  response(cost: Usd | null): InferResponse | undefined {
    const end = this.end;
    if (end === undefined) return undefined;
    const content = this.content;
    return {
      content,
      toolCalls: content
        .filter((part): part is ToolCallPart => part.type === "tool-call")
        .map(({ id, name, input, inputText }) => ({ id, name, input, inputText })),
      stopReason: end.stopReason,
      rawStopReason: end.rawStopReason,
      usage: end.usage,
      model: end.model,
      cost,
      ...(end.providerData && { providerData: end.providerData }),
    };
  }

  #open(type: "text" | "thinking"): void {
    this.#segment = { type, joined: "", pieces: [] };
    if (this.overflowed) return;
    // One that stayed empty makes room: a stream of them would be nothing that `maxAnswerBytes` counts.
    if (isEmpty(this.#slots.at(-1))) this.#slots.pop();
    this.#slots.push(this.#segment);
  }

  #admit(text: string): boolean {
    if (!this.#exact) {
      this.#bound += text.length * 3;
      if (this.#bound <= this.#maxBytes) return true;
      this.#exact = true;
      this.#bound = this.bytes;
    }
    this.#bound += Buffer.byteLength(text);
    if (this.#bound > this.#maxBytes) this.overflowed = true;
    return !this.overflowed;
  }

  #admitData(data: Content | ProviderData): boolean {
    return this.#admit(JSON.stringify(data));
  }
}

function isEmpty(slot: Slot | undefined): boolean {
  if (slot?.type !== "text" && slot?.type !== "thinking") return false;
  return slot.joined === "" && slot.pieces.length === 0 && slot.providerData === undefined;
}

function grow(slot: Growing | undefined, text: string): void {
  if (slot?.pieces.push(text) === MAX_PIECES) textOf(slot);
}

function textOf(slot: Growing): string {
  if (slot.pieces.length > 0) {
    slot.joined = [slot.joined, ...slot.pieces].join("");
    slot.pieces = [];
  }
  return slot.joined;
}

/** A fold of one model call: `push` its events, then read `content`, `end` and `overflowed`. */
export function foldInferEvents(options?: FoldOptions): InferFold {
  return new InferFold(options);
}

/**
 * Reads the arguments of a call: nothing and JSON `null` are `{}`; what does not parse is `undefined`, and the call must not
 * run as it stands. An integer whose nearest double prints other digits is the text of its digits.
 */
export function parseCallInput(inputText: string): JsonValue | undefined {
  if (inputText === "" || inputText.trim() === "") return {};
  try {
    return parseJson(inputText) ?? {};
  } catch {
    return undefined;
  }
}

function toolCallPart(call: OpenCall): ToolCallPart {
  const inputText = textOf(call);
  const input = !call.complete ? undefined : call.custom ? inputText : parseCallInput(inputText);
  const part: { -readonly [M in keyof ToolCallPart]: ToolCallPart[M] } = {
    type: "tool-call",
    id: call.id as CallId,
    name: call.name,
    ...(input !== undefined && { input }),
    inputText,
  };
  if (call.custom) part.custom = true;
  if (call.providerData !== undefined) part.providerData = call.providerData;
  return part;
}
