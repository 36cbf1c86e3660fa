import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HttpAnswerParser } from "./http-answer-parser.ts";

interface Read {
  readonly status: number | undefined;
  readonly body: string;
  readonly done: boolean;
  readonly reusable: boolean;
  readonly parser: HttpAnswerParser;
}

function read(bytes: Buffer, cuts: readonly number[] = []): Read {
  const parser = new HttpAnswerParser();
  const body: Uint8Array[] = [];
  const marks = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  let from = 0;
  for (const mark of marks) {
    // What was given once is overwritten, as the buffer of a socket is.
    const piece = Buffer.from(bytes.subarray(from, mark));
    const part = parser.push(piece);
    piece.fill(0x58);
    if (part !== undefined) body.push(part);
    if (parser.failure !== undefined) throw parser.failure;
    from = mark;
  }
  return {
    status: parser.head?.status,
    body: Buffer.concat(body).toString("latin1"),
    done: parser.done,
    reusable: parser.reusable,
    parser,
  };
}

function answer(fields: readonly string[], body = "", start = "HTTP/1.1 200 OK"): Buffer {
  return Buffer.from(`${[start, ...fields].join("\r\n")}\r\n\r\n${body}`, "latin1");
}

const chunked = answer(["transfer-encoding: chunked"], "");
const chunks = (text: string): Buffer => Buffer.concat([chunked, Buffer.from(text, "latin1")]);

describe("an answer of HTTP/1.1", () => {
  const payload = fc
    .array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 8 })
    .map((parts) => parts.map((part) => Buffer.from(part)));
  const interim = fc.constantFrom("", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n");
  const framing = fc.constantFrom("chunked", "length", "close");

  it("is read alike however it is cut into pieces", () => {
    fc.assert(
      fc.property(payload, interim, framing, fc.boolean(), fc.array(fc.nat(), { maxLength: 12 }), (parts, first, frame, notes, cuts) => {
        const whole = Buffer.concat(parts);
        const fields = ["Content-Type: text/event-stream", "X-Two: a", "x-two:b "];
        if (frame === "chunked") fields.push("Transfer-Encoding: Chunked");
        if (frame === "length") fields.push(`Content-Length: ${whole.length}`);
        const body =
          frame === "chunked"
            ? Buffer.concat([
                ...parts.flatMap((part) => [
                  Buffer.from(`${part.length.toString(16).toUpperCase()}${notes ? ";note=1" : ""}\r\n`),
                  part,
                  Buffer.from("\r\n"),
                ]),
                Buffer.from(`0\r\n${notes ? "x-trailer: 1\r\n" : ""}\r\n`),
              ])
            : whole;
        const result = read(Buffer.concat([Buffer.from(first), answer(fields), body]), cuts);
        expect([result.status, result.body]).toEqual([200, whole.toString("latin1")]);
        expect(result.parser.head?.headers.get("x-two")).toBe("a, b");
        expect([result.done, result.reusable]).toEqual(frame === "close" ? [false, false] : [true, true]);
        expect(result.parser.close()).toBe(true);
      }),
    );
  });

  it("is read alike however long its head is", () => {
    for (let length = 900; length < 1100; length += 1) {
      const { body, done, reusable, parser } = read(answer([`a: ${"x".repeat(length)}`, "content-length: 3"], "abc"), [500]);
      expect([body, done, reusable, parser.head?.headers.get("a")?.length]).toEqual(["abc", true, true, length]);
    }
  });

  it("is not done before its last byte, and is broken when the connection ends before it", () => {
    for (const whole of [
      answer(["content-length: 3"], "abc"),
      chunks("3\r\nabc\r\n0\r\n\r\n"),
      chunks("0\r\na: b\r\n\r\n"),
      answer([], "", "HTTP/1.1 204 No Content"),
    ]) {
      expect(read(whole).done).toBe(true);
      for (let length = 0; length < whole.length; length += 1) {
        const { done, parser } = read(whole.subarray(0, length));
        expect([done, parser.close()]).toEqual([false, false]);
      }
    }
  });

  it.each([
    ["keeps the connection of HTTP/1.1", answer(["content-length: 0"]), true],
    ["keeps it after an answer without a body", answer([], "", "HTTP/1.1 304 Not Modified"), true],
    ["does not keep it when the server says so", answer(["content-length: 0", "connection: Close"]), false],
    ["does not keep that of HTTP/1.0", answer(["content-length: 0"], "", "HTTP/1.0 200 OK"), false],
    [
      "keeps that of HTTP/1.0 when the server says so",
      answer(["content-length: 0", "connection: Keep-Alive"], "", "HTTP/1.0 200 OK"),
      true,
    ],
    ["does not keep it when there is more than the answer", answer(["content-length: 2"], "abHTTP/1.1 200 OK"), false],
    [
      "does not keep that of HTTP/1.0 whose answer is chunked",
      answer(["connection: keep-alive", "transfer-encoding: chunked"], "0\r\n\r\n", "HTTP/1.0 200 OK"),
      false,
    ],
    [
      "does not keep it when the answer is called chunked twice",
      answer(["transfer-encoding: chunked", "transfer-encoding: chunked"], "0\r\n\r\n"),
      false,
    ],
    [
      "does not keep it when length and chunks are both told",
      answer(["content-length: 2", "transfer-encoding: chunked"], "0\r\n\r\n"),
      false,
    ],
  ])("%s", (_title, bytes, reusable) => {
    expect(read(bytes)).toMatchObject({ done: true, reusable });
  });

  it("tells how long the server keeps the connection", () => {
    expect(read(answer(["content-length: 0", "keep-alive: timeout=7, max=5"])).parser.keepAliveSeconds).toBe(7);
    expect(read(answer(["content-length: 0"])).parser.keepAliveSeconds).toBeUndefined();
  });

  it("gives the chunks of one read as one piece", () => {
    const parser = new HttpAnswerParser();
    expect(Buffer.from(parser.push(chunks("1\r\na\r\n2\r\nbc\r\n1\r\nd\r\n")) ?? []).toString()).toBe("abcd");
  });

  it.each([
    ["another protocol", Buffer.from("SSH-2.0-x"), "not HTTP/1.1"],
    ["another version", answer([], "", "HTTP/2.0 200 OK"), "HTTP/2.0"],
    ["no status", answer([], "", "HTTP/1.1 2x0 OK"), "2x0"],
    ["a switch of the protocol", answer(["upgrade: h2c"], "", "HTTP/1.1 101 Switching"), "another protocol"],
    ["a line without a name", answer([": 1"]), "header line"],
    ["a name with a space before the colon", answer(["content-length : 1"]), "header line"],
    ["a folded line", answer(["a: 1", " b"]), "header line"],
    ["a value with a line end of its own", answer(["a: 1\nb: 2"]), "header line"],
    ["a length that is none", answer(["content-length: +3"], "abc"), "content-length"],
    ["a length among blanks that HTTP does not know", answer(["content-length: \u000b3"], "abc"), "content-length"],
    ["a length before a blank that is none", answer(["content-length: 3\u00a0"], "abc"), "content-length"],
    ["chunks that others may not see", answer(["transfer-encoding: \u000bchunked"]), "transfer-encoding"],
    ["lengths that differ", answer(["content-length: 3", "content-length: 4"], "abcd"), "content-length"],
    ["an encoding that nobody asked for", answer(["transfer-encoding: gzip, chunked"]), "transfer-encoding"],
    ["a chunk without a size", chunks("\r\n"), "no size"],
    ["a size that is no number", chunks("1g\r\n"), "no number"],
    ["a negative size", chunks("-1\r\n"), "no size"],
    ["a size beyond all bounds", chunks("fffffffffffff\r\n"), "too long"],
    ["a size without a line end", chunks("1\rX"), "line"],
    ["a bare line end in an extension", chunks("1;a\nb\r\n"), "line"],
    ["a chunk longer than its size", chunks("1\r\nab\r\n"), "line"],
    ["a size behind a bare carriage return", chunks(`1\r\na\rX14\r\n${"b".repeat(20)}\r\n`), "line"],
    ["a later size without a line end", chunks(`1\r\na\r\n14\rX${"b".repeat(20)}\r\n`), "line"],
    ["a later size beyond all bounds", chunks(`1\r\na\r\n${"f".repeat(13)}\r\n${"b".repeat(20)}`), "too long"],
    ["endless extensions", chunks(`1;${"x".repeat(70_000)}`), "65536"],
    ["endless trailers", chunks(`0\r\n${"a: b\r\n".repeat(20_000)}`), "65536"],
    ["an endless head", answer([`a: ${"x".repeat(70_000)}`]), "65536"],
    ["an endless line", Buffer.from(`HTTP/1.1 200 ${"x".repeat(70_000)}`), "65536"],
  ])("with %s is refused, wherever it is cut", (_title, bytes, message) => {
    expect(() => read(bytes)).toThrow(message);
    expect(() => read(bytes, [1, 5, 17, 20, bytes.length - 1, bytes.length >> 1])).toThrow(message);
  });

  it("has no head when where it ends is not known", () => {
    const parser = new HttpAnswerParser();
    parser.push(answer(["content-length: x"]));
    expect([parser.head, parser.failure]).toEqual([undefined, expect.any(Error)]);
  });

  it("keeps the bytes of its values, but not the blanks around them", () => {
    const { parser } = read(answer(["content-length: 0", "a: \tvoil\u00c3\u00a0 \t", "b:", "c: \t"]));
    expect(["a", "b", "c"].map((name) => parser.head?.headers.get(name))).toEqual(["voil\u00c3\u00a0", "", ""]);
  });

  it("takes lengths that agree", () => {
    expect(read(answer(["content-length: 3", "content-length: 3"], "abc"))).toMatchObject({ body: "abc", done: true });
    expect(read(answer(["content-length: 3 ,3,\t3"], "abc"))).toMatchObject({ body: "abc", done: true });
  });
});
