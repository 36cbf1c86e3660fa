import { ModelError } from "@keelson/protocol";
import { Utf8Reader } from "./utf8-reader.ts";

/** UTF-16 units that one event may hold: images come in one event, but nothing longer than this. */
export const MAX_EVENT_LENGTH: number = 32 * 1024 * 1024;

/**
 * Takes one event: its data is `text.slice(start, end)`, not yet cut out, since most readers need a piece of it only. `name` is
 * that of the `event:` line, or "".
 */
export type SseHandler = (text: string, start: number, end: number, name: string) => void;

const LF = 10;
const COLON = 58;
const SPACE = 32;
const LETTER_D = 100;

/**
 * Cuts server-sent events out of bytes that come in pieces: LF, CRLF and CR line ends, comments, data of several lines, events
 * without a name, and a pending event at the end of input. Calls its handler in the midst of `push`; what the handler throws
 * passes through.
 */
export class SseReader {
  readonly #handler: SseHandler;
  readonly #maxLength: number;
  readonly #utf8 = new Utf8Reader();
  /** The line that has not ended. */
  #rest = "";
  #afterCarriageReturn = false;
  #name = "";
  #data: string[] = [];
  #dataLength = 0;
  #sawField = false;

  constructor(handler: SseHandler, options?: { readonly maxEventLength?: number }) {
    this.#handler = handler;
    this.#maxLength = options?.maxEventLength ?? MAX_EVENT_LENGTH;
  }

  /** Whether anything but comments and blank lines came: else the input was no event stream. */
  get sawField(): boolean {
    return this.#sawField;
  }

  /** @throws ModelError of kind `max-output-tokens` when an event is too long. */
  push(bytes: Uint8Array): void {
    this.#feed(this.#utf8.push(bytes));
  }

  /** The input is over: the pending event is dispatched. */
  end(): void {
    this.#feed(this.#utf8.end());
    if (this.#rest !== "") this.#feed("\n");
    this.#dispatch();
  }

  #feed(decoded: string): void {
    if (decoded === "") return;
    let text = decoded;
    if (this.#afterCarriageReturn || text.includes("\r")) {
      // CR, LF and CRLF all end a line; a CRLF may be cut in two.
      if (this.#afterCarriageReturn && text.charCodeAt(0) === LF) text = text.slice(1);
      this.#afterCarriageReturn = decoded.endsWith("\r");
      text = text.replace(/\r\n?/g, "\n");
    }
    let lineEnd = text.indexOf("\n");
    if (this.#rest !== "") {
      text = this.#rest + text;
      if (lineEnd >= 0) lineEnd += this.#rest.length;
      this.#rest = "";
    }
    let at = 0;
    for (; lineEnd >= 0; lineEnd = text.indexOf("\n", at)) {
      if (lineEnd === at) this.#dispatch();
      else if (text.charCodeAt(at) === LETTER_D && text.startsWith("data:", at)) {
        const start = text.charCodeAt(at + 5) === SPACE ? at + 6 : at + 5;
        if (this.#data.length === 0 && text.charCodeAt(lineEnd + 1) === LF) {
          // The whole event is one data line: nothing needs to be kept.
          this.#sawField = true;
          this.#check(lineEnd - start);
          const name = this.#name;
          this.#name = "";
          at = lineEnd + 2;
          if (lineEnd > start) this.#handler(text, start, lineEnd, name);
          continue;
        }
        this.#addData(text.slice(start, lineEnd));
      } else this.#field(text, at, lineEnd);
      at = lineEnd + 1;
    }
    if (at < text.length) {
      this.#rest = at === 0 ? text : text.slice(at);
      this.#check(this.#rest.length);
    }
  }

  #field(text: string, start: number, end: number): void {
    if (text.charCodeAt(start) === COLON) return;
    this.#sawField ||= /^(?:data|event|id|retry)(?::|$)/.test(text.slice(start, Math.min(end, start + 8)));
    if (text.startsWith("event:", start)) this.#name = text.slice(text.charCodeAt(start + 6) === SPACE ? start + 7 : start + 6, end);
    else if (end - start === 4 && text.startsWith("data", start)) this.#addData("");
  }

  #addData(line: string): void {
    this.#sawField = true;
    this.#dataLength += line.length + 1;
    this.#check(this.#dataLength);
    this.#data.push(line);
  }

  #dispatch(): void {
    const name = this.#name;
    this.#name = "";
    if (this.#data.length === 0) return;
    const text = this.#data.length === 1 ? (this.#data[0] as string) : this.#data.join("\n");
    this.#data = [];
    this.#dataLength = 0;
    if (text !== "") this.#handler(text, 0, text.length, name);
  }

  #check(length: number): void {
    if (length + this.#dataLength > this.#maxLength) {
      throw new ModelError({ kind: "max-output-tokens", message: `one event of the answer is longer than ${this.#maxLength} characters` });
    }
  }
}
