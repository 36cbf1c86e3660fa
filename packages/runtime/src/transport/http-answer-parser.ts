import type { AnswerHead } from "./carrier.ts";

/** Room for the cookies and policies of gateways; Node's own client takes 16 KiB. */
const MAX_HEAD_BYTES = 64 * 1024;
/** The head is read in pieces of this size, so that little of what follows it is made text. */
const HEAD_PIECE_BYTES = 512;
/** What stands around the pieces of a chunked body besides their sizes: extensions and trailers, in all. */
const MAX_CHUNK_NOTES_BYTES = 64 * 1024;
// oxlint-disable-next-line no-control-regex
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\0\r\n]*)?$/;
const BEGINNING = "HTTP/1.";
/** RFC 9110, 5.6.2, in lower case. */
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
// oxlint-disable-next-line no-control-regex
const NOT_IN_A_VALUE = /[\0\r\n]/;
/** Repeated values must agree (RFC 9112, 6.3). */
const LENGTH = /^(\d{1,15})(?:[\t ]*,[\t ]*\1)*$/;
/** Some gateways name it a second time and encode once. */
const CHUNKED_TWICE = /^chunked[\t ]*,[\t ]*chunked$/;
const MAX_SIZE_DIGITS = 12;
const CR = 13;
const LF = 10;

type State =
  | "head"
  | "size"
  | "size-extension"
  | "size-lf"
  | "data"
  | "data-cr"
  | "data-lf"
  | "trailer"
  | "trailer-line"
  | "trailer-lf"
  | "until-close"
  | "done";

/**
 * Reads one answer of HTTP/1.1 (RFC 9112) as its bytes come in, cut anywhere. It is strict: who speaks otherwise than the RFC
 * demands could make the end of one answer look like the beginning of the next.
 */
export class HttpAnswerParser {
  /** There as soon as it has come whole; those of interim answers (status 1xx) are passed over. */
  head: AnswerHead | undefined;
  /** How long the server keeps an unused connection, when it says so. */
  keepAliveSeconds: number | undefined;
  /** Why this is no answer of HTTP/1.1. */
  failure: Error | undefined;
  done = false;
  /** Whether the connection can carry another request, once the answer is done. */
  reusable = true;
  #state: State = "head";
  #begun = "";
  #chunked = false;
  #left = 0;
  #sizeDigits = 0;
  #notes = 0;

  /** Takes the next bytes, of which nothing is kept, and gives what of the body was in them; not more after a `failure`. */
  push(bytes: Buffer): Uint8Array | undefined {
    // What of the body is in these bytes, put together.
    let body: Buffer | undefined;
    let filled = 0;
    let at = 0;
    try {
      while (at < bytes.length) {
        switch (this.#state) {
          case "head":
            at = this.#readHead(bytes, at);
            break;
          case "data":
          case "until-close": {
            const end = Math.min(bytes.length, at + this.#left);
            body ??= Buffer.allocUnsafe(bytes.length - at);
            body.set(bytes.subarray(at, end), filled);
            filled += end - at;
            this.#left -= end - at;
            at = end;
            if (this.#left === 0) this.#state = this.#chunked ? "data-cr" : "done";
            break;
          }
          case "done":
            // Nobody asked for more: what follows must not be taken for an answer to the next request.
            this.reusable = false;
            at = bytes.length;
            break;
          default: {
            const next = this.#state === "data-cr" ? this.#readBorder(bytes, at) : -1;
            if (next < 0) this.#readBetween(bytes[at] as number);
            at = next < 0 ? at + 1 : next;
          }
        }
      }
    } catch (cause) {
      this.failure = cause as Error;
    }
    this.done = this.#state === "done";
    return body?.subarray(0, filled);
  }

  /** The connection has ended: whether the answer has, too. */
  close(): boolean {
    this.reusable = false;
    if (this.#state === "until-close") this.#state = "done";
    return (this.done = this.#state === "done");
  }

  /** Returns where it stopped reading: behind the head, or behind a piece in which it does not end. */
  #readHead(bytes: Buffer, from: number): number {
    const to = Math.min(bytes.length, from + HEAD_PIECE_BYTES);
    const begun = this.#begun.length;
    const text = this.#begun + bytes.toString("latin1", from, to);
    const end = text.indexOf("\r\n\r\n", Math.max(0, begun - 3));
    if ((end < 0 ? text.length : end) > MAX_HEAD_BYTES) throw new Error(`its head is longer than ${MAX_HEAD_BYTES} bytes`);
    if (end < 0) {
      if (!text.startsWith(BEGINNING) && !BEGINNING.startsWith(text)) throw noHttp(text);
      this.#begun = text;
      return to;
    }
    this.#begun = "";
    this.#takeHead(text.slice(0, end));
    return from + end + 4 - begun;
  }

  #takeHead(text: string): void {
    const lines = text.split("\r\n");
    const start = STATUS_LINE.exec(lines[0] as string);
    if (start === null) throw noHttp(text);
    const status = Number(start[2]);
    if (status === 101) throw new Error("it switches to another protocol, which nobody asked for");
    if (status < 200) return;
    const fields = fieldsOf(lines);
    const connection = fields.get("connection")?.toLowerCase() ?? "";
    const old = start[1] === "0";
    this.reusable = old ? connection.includes("keep-alive") : !connection.includes("close");
    const hint = /timeout=(\d+)/i.exec(fields.get("keep-alive") ?? "");
    if (hint !== null) this.keepAliveSeconds = Number(hint[1]);
    this.#expectBody(status, fields, old);
    this.head = { status, headers: fields };
  }

  /** RFC 9112, 6.3. */
  #expectBody(status: number, fields: ReadonlyMap<string, string>, old: boolean): void {
    const encoding = fields.get("transfer-encoding");
    const length = fields.get("content-length");
    if (status === 204 || status === 304) {
      this.#state = "done";
    } else if (encoding !== undefined) {
      const coding = encoding.toLowerCase();
      const twice = CHUNKED_TWICE.test(coding);
      if (coding !== "chunked" && !twice) throw new Error(`its transfer-encoding "${encoding}" is unknown`);
      // Somebody on the way may have read it by its length, or decoded it twice, or not at all (RFC 9112, 6.1).
      if (length !== undefined || twice || old) this.reusable = false;
      this.#chunked = true;
      this.#expectSize();
    } else if (length !== undefined) {
      this.#left = lengthOf(length);
      this.#state = this.#left === 0 ? "done" : "data";
    } else {
      this.reusable = false;
      this.#left = Number.POSITIVE_INFINITY;
      this.#state = "until-close";
    }
  }

  #expectSize(): void {
    this.#state = "size";
    this.#left = 0;
    this.#sizeDigits = 0;
  }

  /** What usually stands between two pieces, the size of the next alone, at once. Returns where that begins; -1 where it is otherwise. */
  #readBorder(bytes: Buffer, at: number): number {
    const most = at + 2 + MAX_SIZE_DIGITS;
    if (bytes.length < most + 2 || bytes[at] !== CR || bytes[at + 1] !== LF) return -1;
    let end = at + 2;
    let size = 0;
    for (let digit = 0; end < most && (digit = hexDigit(bytes[end] as number)) >= 0; end += 1) size = size * 16 + digit;
    if (size === 0 || bytes[end] !== CR || bytes[end + 1] !== LF) return -1;
    this.#left = size;
    this.#state = "data";
    return end + 2;
  }

  /** One byte of what stands between the pieces of a chunked body (RFC 9112, 7.1). */
  #readBetween(byte: number): void {
    switch (this.#state) {
      case "size": {
        const digit = hexDigit(byte);
        if (digit >= 0) {
          this.#left = this.#left * 16 + digit;
          this.#sizeDigits += 1;
          if (this.#sizeDigits > MAX_SIZE_DIGITS) throw new Error("the size of a chunk is too long");
        } else if (this.#sizeDigits === 0) throw new Error("a chunk has no size");
        else if (byte === CR) this.#state = "size-lf";
        else if (byte === 59 /* ; */ || byte === 32 || byte === 9) this.#state = "size-extension";
        else throw new Error("the size of a chunk is no number");
        return;
      }
      case "size-extension":
        this.#note();
        if (byte === CR) this.#state = "size-lf";
        else if (byte === LF) throw new Error("a line of its body does not end as HTTP demands");
        return;
      case "size-lf":
        expectByte(byte, LF);
        this.#state = this.#left === 0 ? "trailer" : "data";
        return;
      case "data-cr":
        expectByte(byte, CR);
        this.#state = "data-lf";
        return;
      case "data-lf":
        expectByte(byte, LF);
        this.#expectSize();
        return;
      case "trailer":
        if (byte === CR) {
          this.#state = "trailer-lf";
          return;
        }
        this.#note();
        this.#state = "trailer-line";
        return;
      case "trailer-line":
        this.#note();
        if (byte === LF) this.#state = "trailer";
        return;
      default: // trailer-lf
        expectByte(byte, LF);
        this.#state = "done";
    }
  }

  #note(): void {
    this.#notes += 1;
    if (this.#notes > MAX_CHUNK_NOTES_BYTES) {
      throw new Error(`the extensions and trailers of its body are longer than ${MAX_CHUNK_NOTES_BYTES} bytes`);
    }
  }
}

function fieldsOf(lines: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (let at = 1; at < lines.length; at += 1) {
    const line = lines[at] as string;
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    const value = withoutBlanks(line, colon + 1);
    if (!FIELD_NAME.test(name) || NOT_IN_A_VALUE.test(value))
      throw new Error(`its header line ${JSON.stringify(line.slice(0, 80))} is malformed`);
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return fields;
}

/** The blanks of HTTP are two; `trim` takes away more, with which others read a length or an encoding otherwise. */
function withoutBlanks(line: string, start: number): string {
  let from = start;
  let to = line.length;
  while (from < to && (line[from] === " " || line[from] === "\t")) from += 1;
  while (to > from && (line[to - 1] === " " || line[to - 1] === "\t")) to -= 1;
  return line.slice(from, to);
}

function lengthOf(text: string): number {
  const length = LENGTH.exec(text);
  if (length === null) throw new Error(`its content-length "${text}" is no length`);
  return Number(length[1]);
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

function expectByte(byte: number, wanted: number): void {
  if (byte !== wanted) throw new Error("a line of its body does not end as HTTP demands");
}

function noHttp(text: string): Error {
  return new Error(`it is not HTTP/1.1: it begins with ${JSON.stringify(text.slice(0, 40))}`);
}
