import { ModelError } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SseReader } from "./sse-reader.ts";

function read(
  chunks: readonly (string | Uint8Array)[],
  options?: { readonly maxEventLength?: number; readonly skim?: (text: string, at: number) => number },
): string[] {
  const events: string[] = [];
  const reader = new SseReader(
    { event: (text, start, end) => void events.push(text.slice(start, end)), ...(options?.skim && { skim: options.skim }) },
    options,
  );
  for (const chunk of chunks) reader.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  reader.end();
  return events;
}

/** The rules of the standard, written down slowly. */
function slowly(text: string): string[] {
  const events: string[] = [];
  let data: string[] = [];
  const dispatch = (): void => {
    const joined = data.join("\n");
    if (joined !== "") events.push(joined);
    data = [];
  };
  for (const line of text.replace(/^\u{FEFF}/u, "").split(/\r\n|\r|\n/)) {
    if (line === "") dispatch();
    const [, name = line, value = ""] = /^([^:]*): ?(.*)$/s.exec(line) ?? [];
    if (name === "data") data.push(value);
  }
  dispatch();
  return events;
}

const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
const line = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => `data: ${text.replace(/[\r\n]/g, "")}`),
  fc.constantFrom("data:x", "data", "data:", "data:  two", "event: ping", ":", ": a comment", "id: 7", "retry: 5", "other: y", "", ""),
);
const stream = fc.array(fc.tuple(line, lineEnd), { maxLength: 20 }).map((lines) => lines.map((parts) => parts.join("")).join(""));

describe("an event stream", () => {
  it("gives the same events wherever its bytes are cut, with any line ends", () => {
    fc.assert(
      fc.property(stream, fc.boolean(), fc.array(fc.nat(200), { maxLength: 30 }), (text, endsCleanly, cuts) => {
        const whole = endsCleanly ? `${text}\n\n` : text;
        const bytes = Buffer.from(whole);
        const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
        const chunks = places.slice(1).map((end, at) => bytes.subarray(places[at], end));
        expect(read(chunks)).toEqual(slowly(whole));
      }),
      { numRuns: 1000 },
    );
  });

  it("gives a pending event at the end of input", () => {
    expect(read(["data: a\n\ndata: b"])).toEqual(["a", "b"]);
    expect(read(["data: a\n\ndata: b\n"])).toEqual(["a", "b"]);
  });

  it("joins the lines of one event by LF", () => {
    expect(read(["data: a\ndata: b\ndata\n\n"])).toEqual(["a\nb\n"]);
  });

  it("takes a CRLF that is cut in two for one line end", () => {
    expect(read(["data: a\r", "\ndata: b\r", "\n\r", "\n"])).toEqual(["a\nb"]);
  });

  it("tells fields from comments and from what is no event stream at all", () => {
    for (const [text, expected] of [
      ["data: x", true],
      ["event: x", true],
      [": comment\n\n", false],
      ["<html>", false],
      ["\n\n", false],
    ] as const) {
      const reader = new SseReader({ event() {} });
      reader.push(Buffer.from(text));
      reader.end();
      expect(reader.sawField).toBe(expected);
    }
  });

  it("refuses an event that is too long, in one line or in many, without holding it", () => {
    for (const chunks of [
      ["data: ", "x".repeat(60), "x".repeat(60)],
      [`data: ${"x".repeat(101)}\n\n`],
      Array.from({ length: 20 }, () => "data: 0123456789\n"),
    ]) {
      expect(() => read(chunks, { maxEventLength: 100 })).toThrow(expect.toSatisfy((error) => ModelError.is(error, "max-output-tokens")));
    }
  });

  it("offers the input for skimming only where an event begins", () => {
    const offered: string[] = [];
    const skim = (text: string, at: number): number => {
      offered.push(text.slice(at, at + 12));
      return at;
    };
    read(["data: a\n\ndata: b\n\nevent: c\n", "data: c\n\n", "data: d\n\nda", "ta: e\n\n"], { skim });
    expect(offered).toEqual(["data: a\n\ndat", "data: b\n\neve", "event: c\n", "", "data: d\n\nda", "da", "data: e\n\n", "", "\n"]);
  });
});
