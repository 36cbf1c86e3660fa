import { ModelError } from "@keelson/protocol";
import { Utf8Reader } from "./utf8-reader.ts";

/** UTF-16 units that one event may hold: images come in one event, but nothing longer than this. */
export const MAX_EVENT_LENGTH: number = 32 * 1024 * 1024;

export interface SseHandler {
  /**
   * Takes one event: its data is `text.slice(start, end)`. Where `text` holds the event as it came, with nothing but line ends
   * changed to LF, its first line starts at `from` and two LF follow its `end`; else `from` is -1.
   */
  event(text: string, start: number, end: number, from: number): void;
  /**
   * Offered the input where an event begins: takes as many whole events, blank lines included, as it knows how to read by itself,
   * and returns where the rest starts; `at` when it takes none. What it takes must be what the same bytes would have meant here.
   */
  skim?(text: string, at: number): number;
  /** What may follow is of no interest: it is read away. */
  readonly complete?: boolean;
}

const LF = 10;
const COLON = 58;
const SPACE = 32;
const LETTER_A = 97;
const LETTER_D = 100;
const LETTER_T = 116;
const LINE_END = Uint8Array.of(LF);

/**
 * Cuts server-sent events out of bytes that come in pieces: LF, CRLF and CR line ends, comments, data of several lines, events
 * without a name, and a pending event at the end of input. Calls its handler in the midst of `push`; what the handler throws
 * passes through. Looks at character codes, and copies nothing that it need not: streams are decoded fast on purpose.
 */
export class SseReader {
  readonly #handler: SseHandler;
  readonly #maxLength: number;
  readonly #utf8 = new Utf8Reader();
  /** The line that has not ended. */
  #rest = "";
  #afterCarriageReturn = false;
  #data: string[] = [];
  #dataLength = 0;
  #sawField = false;
  #isAlive = false;
  #tookEvent = false;
  /** Lines of an event have been read that has not ended. */
  #midEvent = false;

  constructor(handler: SseHandler, options?: { readonly maxEventLength?: number }) {
    this.#handler = handler;
    this.#maxLength = options?.maxEventLength ?? MAX_EVENT_LENGTH;
  }

  /** Whether anything but comments and blank lines came: else the input was no event stream. */
  get sawField(): boolean {
    return this.#sawField;
  }

  /** True if the handler has taken an event without an error. */
  get tookEvent(): boolean {
    return this.#tookEvent;
  }

  /** Returns whether anything but comments and blank lines came since it was last asked. */
  takeAlive(): boolean {
    const isAlive = this.#isAlive;
    this.#isAlive = false;
    return isAlive;
  }

  /** @throws ModelError of kind `max-output-tokens` when an event is too long. */
  push(bytes: Uint8Array): void {
    const decoded = this.#utf8.push(bytes);
    if (decoded === "" || this.#handler.complete) return;
    let text = decoded;
    if (this.#afterCarriageReturn || text.includes("\r")) {
      // CR, LF and CRLF all end a line; a CRLF may be cut in two.
      if (this.#afterCarriageReturn && text.charCodeAt(0) === LF) text = text.slice(1);
      this.#afterCarriageReturn = decoded.endsWith("\r");
      text = text.replace(/\r\n?/g, "\n");
    }
    let lineEnd = text.indexOf("\n");
    if (lineEnd < 0) {
      this.#rest += text;
      this.#isAlive ||= this.#rest.charCodeAt(0) !== COLON;
      this.#check(this.#rest.length);
      return;
    }
    if (this.#rest !== "") {
      text = this.#rest + text;
      lineEnd += this.#rest.length;
      this.#rest = "";
    }
    let at = 0;
    // Where the event began to which the current line belongs; -1 when that was in an earlier piece.
    let from = this.#midEvent ? -1 : 0;
    if (!this.#midEvent && this.#handler.skim !== undefined) {
      at = this.#handler.skim(text, 0);
      if (at > 0) {
        this.#isAlive = true;
        from = at;
        lineEnd = text.indexOf("\n", at);
      }
    }
    for (; lineEnd >= 0 && !this.#handler.complete; lineEnd = text.indexOf("\n", at)) {
      if (lineEnd === at) {
        this.#dispatch();
        at += 1;
        from = at;
        continue;
      }
      if (isDataLine(text, at)) {
        const start = text.charCodeAt(at + 5) === SPACE ? at + 6 : at + 5;
        if (this.#data.length === 0 && text.charCodeAt(lineEnd + 1) === LF) {
          // The last line is all the data of the event: nothing needs to be kept.
          this.#sawField = true;
          this.#isAlive = true;
          this.#check(lineEnd - start);
          if (lineEnd > start) {
            this.#handler.event(text, start, lineEnd, from);
            this.#tookEvent = true;
          }
          at = lineEnd + 2;
          if (this.#handler.skim !== undefined && !this.#handler.complete) at = this.#handler.skim(text, at);
          from = at;
          continue;
        }
        this.#addData(text.slice(start, lineEnd));
      } else this.#field(text, at, lineEnd);
      at = lineEnd + 1;
    }
    this.#midEvent = at > from || from < 0;
    if (at < text.length) {
      this.#rest = at === 0 ? text : text.slice(at);
      this.#isAlive ||= this.#rest.charCodeAt(0) !== COLON;
      this.#check(this.#rest.length);
    }
  }

  /** The input is over: the pending event is dispatched. */
  end(): void {
    // Its last line may lack its end.
    this.push(LINE_END);
    this.#dispatch();
  }

  #field(text: string, start: number, end: number): void {
    if (text.charCodeAt(start) === COLON) return;
    this.#isAlive = true;
    this.#sawField ||= /^(?:data|event|id|retry)(?::|$)/.test(text.slice(start, Math.min(end, start + 8)));
    // The names of events say nothing that their data does not say.
    if (end - start === 4 && text.startsWith("data", start)) this.#addData("");
  }

  #addData(line: string): void {
    this.#sawField = true;
    this.#isAlive = true;
    this.#dataLength += line.length + 1;
    this.#check(this.#dataLength);
    this.#data.push(line);
  }

  #dispatch(): void {
    if (this.#data.length === 0) return;
    const text = this.#data.length === 1 ? (this.#data[0] as string) : this.#data.join("\n");
    this.#data = [];
    this.#dataLength = 0;
    if (text === "" || this.#handler.complete) return;
    this.#handler.event(text, 0, text.length, -1);
    this.#tookEvent = true;
  }

  #check(length: number): void {
    if (length + this.#dataLength > this.#maxLength) {
      throw new ModelError({
        kind: "max-output-tokens",
        message: `one event of the response is longer than ${this.#maxLength} characters`,
      });
    }
  }
}

function isDataLine(text: string, at: number): boolean {
  return (
    text.charCodeAt(at) === LETTER_D &&
    text.charCodeAt(at + 1) === LETTER_A &&
    text.charCodeAt(at + 2) === LETTER_T &&
    text.charCodeAt(at + 3) === LETTER_A &&
    text.charCodeAt(at + 4) === COLON
  );
}
