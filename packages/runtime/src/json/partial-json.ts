import type { JsonValue } from "@keelson/protocol";
import { isInexactInteger } from "./inexact-integer.ts";
import { MAX_JSON_DEPTH } from "./max-json-depth.ts";
import { OpenString } from "./open-string.ts";
import { markInteger, markMember } from "./parse-json.ts";
import { putMember } from "./put-member.ts";

type Container = JsonValue[] | { [key: string]: JsonValue };

interface Frame {
  readonly value: Container;
  /** Members so far. */
  size: number;
  /** The key of the next member of an object. */
  key: string;
}

type Expected = "value" | "value-or-end" | "key" | "key-or-end" | "colon" | "separator";

const STRING_RUN = /[^"\\\u0000-\u001f]*/y;
const TOKEN_RUN = /[-+.0-9A-Za-z]*/y;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const LITERALS: { readonly [token: string]: JsonValue } = { true: true, false: false, null: null };
const ESCAPES: { readonly [char: string]: string } = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  "b": "\b",
  "f": "\f",
  "n": "\n",
  "r": "\r",
  "t": "\t",
};

/**
 * Reads one JSON value as its text arrives. A snapshot contains every list and object that has begun and the part of the last string that
 * has arrived. Numbers and literals are added when they are complete, because `1` may become `12`.
 *
 * An integer whose nearest double prints other digits is a text, as {@link parseJson} has it.
 *
 * Each character is read once. `snapshot` copies the lists and objects that are still open, `openMembers` members in all, and shares
 * the finished ones with every other snapshot.
 */
export class PartialJson {
  readonly #frames: Frame[] = [];
  #expected: Expected = "value";
  #status: "open" | "complete" | "broken" = "open";
  #root: JsonValue | undefined;
  #string: OpenString | undefined;
  /** The string that is open is a key. */
  #isKey = false;
  /** The part of an escape that has arrived: a backslash, and the digits of `\u`. */
  #escape = "";
  /** The part of a number or a literal that has arrived. */
  #token = "";
  #openMembers = 0;
  #changes = 0;
  #work = 0;

  /** `broken`: the text is no JSON, or nested too deep; snapshots keep the part before the error. */
  get status(): "open" | "complete" | "broken" {
    return this.#status;
  }

  /** Grows with each change of the snapshot. */
  get changes(): number {
    return this.#changes;
  }

  /** Members that a snapshot copies. */
  get openMembers(): number {
    return this.#openMembers;
  }

  /** Steps and characters that reading took, and members that snapshots copied. */
  get work(): number {
    return this.#work;
  }

  /** @returns where it stopped reading: behind the value where that is complete, at what is no JSON, else at the end of the text */
  push(text: string, from: number = 0): number {
    let at = from;
    while (at < text.length && this.#status === "open") {
      const before = at;
      if (this.#string !== undefined) at = this.#readString(text, at, this.#string);
      else if (this.#token !== "") at = this.#readToken(text, at);
      else at = this.#readStructure(text, at);
      this.#work += at - before + 1;
    }
    return at;
  }

  /** Ends the text: completes a number or literal at the top. A value that is still open is broken. */
  end(): void {
    if (this.#token !== "") this.#endToken();
    if (this.#status === "open") this.#status = "broken";
  }

  /** Returns the value so far, which does not change later; `undefined` if nothing of it is known yet. */
  snapshot(): JsonValue | undefined {
    let value = this.#string === undefined || this.#isKey ? this.#root : this.#string.read();
    for (let index = this.#frames.length - 1; index >= 0; index--) {
      const frame = this.#frames[index] as Frame;
      this.#work += frame.size;
      const copy: Container = Array.isArray(frame.value) ? frame.value.slice() : { ...frame.value };
      if (value !== undefined) put(copy, frame.key, value);
      value = copy;
    }
    return value;
  }

  #readStructure(text: string, at: number): number {
    const char = text[at] as string;
    if (char === " " || char === "\n" || char === "\r" || char === "\t") return at + 1;
    switch (this.#expected) {
      case "value-or-end":
        if (char === "]") return this.#close(at);
        return this.#beginValue(char, at);
      case "value":
        return this.#beginValue(char, at);
      case "key-or-end":
        if (char === "}") return this.#close(at);
        return this.#beginKey(char, at);
      case "key":
        return this.#beginKey(char, at);
      case "colon":
        if (char !== ":") return this.#break(at);
        this.#expected = "value";
        return at + 1;
      case "separator": {
        const { value } = this.#frames.at(-1) as Frame;
        if (char === ",") {
          this.#expected = Array.isArray(value) ? "value" : "key";
          return at + 1;
        }
        return char === (Array.isArray(value) ? "]" : "}") ? this.#close(at) : this.#break(at);
      }
    }
  }

  #beginValue(char: string, at: number): number {
    if (char === '"') {
      this.#string = new OpenString();
      this.#isKey = false;
      this.#changes++;
      return at + 1;
    }
    if (char === "{" || char === "[") {
      if (this.#frames.length === MAX_JSON_DEPTH) return this.#break(at);
      this.#frames.push({ value: char === "[" ? [] : {}, size: 0, key: "" });
      this.#expected = char === "[" ? "value-or-end" : "key-or-end";
      this.#changes++;
      return at + 1;
    }
    if (!/[-0-9tfn]/.test(char)) return this.#break(at);
    this.#token = char;
    return at + 1;
  }

  #beginKey(char: string, at: number): number {
    if (char !== '"') return this.#break(at);
    this.#string = new OpenString();
    this.#isKey = true;
    return at + 1;
  }

  #readToken(text: string, at: number): number {
    TOKEN_RUN.lastIndex = at;
    TOKEN_RUN.test(text);
    const end = TOKEN_RUN.lastIndex;
    if (end > at) this.#token += text.slice(at, end);
    if (end < text.length) this.#endToken();
    return end;
  }

  #endToken(): void {
    const token = this.#token;
    this.#token = "";
    if (Object.hasOwn(LITERALS, token)) this.#add(LITERALS[token] as JsonValue);
    else if (NUMBER.test(token)) this.#addNumber(token);
    else this.#status = "broken";
  }

  #addNumber(token: string): void {
    if (!isInexactInteger(token)) {
      this.#add(Number(token));
      return;
    }
    const frame = this.#frames.at(-1);
    this.#add(token);
    if (frame !== undefined) markInteger(frame.value, [stepOf(frame)], token);
  }

  #readString(text: string, at: number, string: OpenString): number {
    if (this.#escape !== "") return this.#readEscape(text[at] as string, at, string);
    STRING_RUN.lastIndex = at;
    STRING_RUN.test(text);
    const end = STRING_RUN.lastIndex;
    if (end > at) this.#append(string, text.slice(at, end));
    if (end === text.length) return end;
    const char = text[end];
    if (char === "\\") this.#escape = "\\";
    else if (char === '"') this.#endString(string);
    else return this.#break(end);
    return end + 1;
  }

  #readEscape(char: string, at: number, string: OpenString): number {
    if (this.#escape === "\\" && char !== "u") {
      const meant = Object.hasOwn(ESCAPES, char) ? ESCAPES[char] : undefined;
      if (meant === undefined) return this.#break(at);
      this.#escape = "";
      this.#append(string, meant);
      return at + 1;
    }
    if (this.#escape !== "\\" && !/[0-9a-fA-F]/.test(char)) return this.#break(at);
    this.#escape += char;
    if (this.#escape.length === 6) {
      const unit = String.fromCharCode(Number.parseInt(this.#escape.slice(2), 16));
      this.#escape = "";
      this.#append(string, unit);
    }
    return at + 1;
  }

  #append(string: OpenString, piece: string): void {
    string.push(piece);
    if (!this.#isKey) this.#changes++;
  }

  #endString(string: OpenString): void {
    this.#string = undefined;
    const text = string.close();
    if (!this.#isKey) this.#add(text);
    else {
      (this.#frames.at(-1) as Frame).key = text;
      this.#expected = "colon";
    }
  }

  #close(at: number): number {
    const { value, size } = this.#frames.pop() as Frame;
    this.#openMembers -= size;
    this.#add(value);
    return at + 1;
  }

  #add(value: JsonValue): void {
    this.#changes++;
    const frame = this.#frames.at(-1);
    if (frame === undefined) {
      this.#root = value;
      this.#status = "complete";
      return;
    }
    put(frame.value, frame.key, value);
    frame.size++;
    markMember(frame.value, stepOf(frame), value);
    this.#openMembers++;
    this.#expected = "separator";
  }

  #break(at: number): number {
    this.#status = "broken";
    return at;
  }
}

/** The place of the last member that was put into a frame. */
function stepOf({ value, size, key }: Frame): string | number {
  return Array.isArray(value) ? size - 1 : key;
}

function put(container: Container, key: string, value: JsonValue): void {
  if (Array.isArray(container)) container.push(value);
  else putMember(container, key, value);
}
