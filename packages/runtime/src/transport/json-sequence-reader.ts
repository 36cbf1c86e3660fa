import { ModelError } from "@keelson/protocol";
import { MAX_EVENT_LENGTH } from "./sse-reader.ts";
import { Utf8Reader } from "./utf8-reader.ts";

export interface JsonSequenceHandler {
  /** Takes one object or array of the sequence, or what stands in its place: `text.slice(start, end)`. */
  event(text: string, start: number, end: number): void;
}

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const BYTE_ORDER_MARK = 0xfe_ff;

/**
 * Cuts the values out of a sequence of JSON values that comes in pieces: one object after the other (NDJSON, however its lines
 * are broken), or the elements of one array while the array is still being sent. A value that never ends is not handed over.
 * Looks at character codes: streams are decoded fast on purpose.
 */
export class JsonSequenceReader {
  readonly #handler: JsonSequenceHandler;
  readonly #maxLength: number;
  readonly #utf8 = new Utf8Reader();
  /** The brackets that are open within the current value. */
  #depth = 0;
  #inString = false;
  /** The last character was a backslash in a string. */
  #escaped = false;
  /** The array around the values: none was opened yet, it is open, or it is closed. */
  #array: "none" | "open" | "closed";
  /** What came of the current value in earlier pieces. */
  #pieces: string[] = [];
  #length = 0;

  /** `kind`: whether the values stand in one array or one after the other. */
  constructor(handler: JsonSequenceHandler, kind: "array" | "object", options?: { readonly maxEventLength?: number }) {
    this.#handler = handler;
    this.#array = kind === "array" ? "none" : "open";
    this.#maxLength = options?.maxEventLength ?? MAX_EVENT_LENGTH;
  }

  /** @throws ModelError of kind `max-output-tokens` when a value is too long */
  push(bytes: Uint8Array): void {
    this.#feed(this.#utf8.push(bytes));
  }

  /** The input is over. */
  end(): void {
    this.#feed(this.#utf8.end());
  }

  #feed(text: string): void {
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      if (this.#inString) {
        at = this.#stringEnd(text, at);
        continue;
      }
      const unit = text.charCodeAt(at);
      if (this.#depth === 0) {
        if (this.#isBetween(unit)) continue;
        if (unit === OPEN_OBJECT || unit === OPEN_ARRAY) {
          from = at;
          this.#depth = 1;
        } else {
          // No value: whoever gets it says so.
          const lineEnd = text.indexOf("\n", at);
          const end = lineEnd < 0 ? text.length : lineEnd;
          this.#handler.event(text, at, end);
          at = end;
        }
      } else if (unit === QUOTE) this.#inString = true;
      else if (unit === OPEN_OBJECT || unit === OPEN_ARRAY) this.#depth += 1;
      else if (unit === CLOSE_OBJECT || unit === CLOSE_ARRAY) {
        this.#depth -= 1;
        if (this.#depth === 0) this.#take(text, from, at + 1);
      }
    }
    if (this.#depth === 0) return;
    this.#length += text.length - from;
    if (this.#length > this.#maxLength)
      throw new ModelError({
        kind: "max-output-tokens",
        message: `one value of the response is longer than ${this.#maxLength} characters`,
      });
    this.#pieces.push(text.slice(from));
  }

  /** Where the string ends that goes on at `from`; the last place when it does not end in this text. */
  #stringEnd(text: string, from: number): number {
    for (let at = from; at < text.length; at += 1) {
      if (this.#escaped) this.#escaped = false;
      else {
        const unit = text.charCodeAt(at);
        if (unit === BACKSLASH) this.#escaped = true;
        else if (unit === QUOTE) {
          this.#inString = false;
          return at;
        }
      }
    }
    return text.length;
  }

  /** What stands between values; it is kept in mind when it opens or closes the array around them. */
  #isBetween(unit: number): boolean {
    if (
      this.#array === "closed" ||
      unit === LF ||
      unit === SPACE ||
      unit === CR ||
      unit === TAB ||
      unit === COMMA ||
      unit === BYTE_ORDER_MARK
    )
      return true;
    if (this.#array === "none" && unit === OPEN_ARRAY) this.#array = "open";
    else if (unit === CLOSE_ARRAY) this.#array = "closed";
    else return false;
    return true;
  }

  #take(text: string, from: number, to: number): void {
    if (this.#pieces.length === 0) {
      this.#handler.event(text, from, to);
      return;
    }
    const whole = this.#pieces.join("") + text.slice(from, to);
    this.#pieces = [];
    this.#length = 0;
    this.#handler.event(whole, 0, whole.length);
  }
}
