import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createKeyReader, ESCAPE_MS, SEQUENCE_MS, STRING_MS } from "./read-keys.ts";

interface Heard {
  readonly keys: string[];
  readonly pastes: string[];
  readonly reports: string[];
  /** All of them, in order. */
  readonly all: string[];
  push(chunk: string | Uint8Array): void;
  pass(ms: number): void;
}

function setUp(): Heard {
  const keys: string[] = [];
  const pastes: string[] = [];
  const reports: string[] = [];
  const all: string[] = [];
  let now = 0;
  let waiting: { readonly at: number; readonly done: () => void } | undefined;
  const add =
    (list: string[]) =>
    (text: string): void => {
      list.push(text);
      all.push(text);
    };
  const reader = createKeyReader({
    after(ms, done) {
      const wait = { at: now + ms, done };
      waiting = wait;
      return () => {
        if (waiting === wait) waiting = undefined;
      };
    },
    onKey: add(keys),
    onPaste: add(pastes),
    onReport: add(reports),
  });
  return {
    keys,
    pastes,
    reports,
    all,
    push: (chunk) => reader.push(chunk),
    pass(ms) {
      now += ms;
      if (waiting === undefined || waiting.at > now) return;
      const { done } = waiting;
      waiting = undefined;
      done();
    },
  };
}

const KEY_SEQUENCES = [
  "\r",
  "\n",
  "\t",
  "\u007f",
  "\u0001",
  "\u001b[A",
  "\u001bOA",
  "\u001b[1;5C",
  "\u001b[3~",
  "\u001b[13;2u",
  "\u001b[27;2;13~",
  "\u001b\r",
  "\u001bb",
  "\u001b[Z",
  "\u001b[97:65;2u",
  "\u001b[[A",
  "\u001b[3$",
];
const REPORTS = [
  "\u001b[I",
  "\u001b[O",
  "\u001b[?1u",
  "\u001b[?62;4c",
  "\u001b]11;rgb:0000/0000/0000\u0007",
  "\u001bP>|xterm(390)\u001b\\",
  "\u001b[24;80R",
];

/** Characters that a keyboard can type: no control characters. */
const typed = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).filter((text) => !/[\p{Cc}\p{Cs}]/u.test(text));
const pastedText = fc.string({ unit: "grapheme", maxLength: 40 }).map((text) => text.replaceAll("\u001b", ""));

function cut(bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const places = [...new Set([0, ...cuts.map((place) => place % (bytes.length + 1)), bytes.length])].toSorted((a, b) => a - b);
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

describe("createKeyReader", () => {
  it("reads keys, pastes and reports whole and in order, wherever their bytes are cut", () => {
    const part = fc.oneof(
      typed.map((text) => ({ sent: text, kind: "text" as const, text })),
      fc.constantFrom(...KEY_SEQUENCES).map((text) => ({ sent: text, kind: "key" as const, text })),
      fc.constantFrom(...REPORTS).map((text) => ({ sent: text, kind: "report" as const, text })),
      pastedText.map((text) => ({ sent: `\u001b[200~${text}\u001b[201~`, kind: "paste" as const, text })),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 30 }), (parts, cuts) => {
        const heard = setUp();
        for (const chunk of cut(Buffer.from(parts.map(({ sent }) => sent).join("")), cuts)) heard.push(chunk);
        const of = (kind: string): string[] => parts.filter((one) => one.kind === kind).map(({ text }) => text);
        expect(heard.pastes).toEqual(of("paste"));
        expect(heard.reports).toEqual(of("report"));
        // Text that arrives in pieces is several keys.
        expect(heard.all.join("")).toBe(parts.map(({ text }) => text).join(""));
        expect(heard.keys.filter((key) => KEY_SEQUENCES.includes(key))).toEqual(of("key"));
      }),
      { numRuns: 500 },
    );
  });

  it("tells Esc from the beginning of a sequence by a pause", () => {
    const heard = setUp();
    heard.push("\u001b");
    heard.pass(ESCAPE_MS - 1);
    heard.push("[A");
    expect(heard.keys).toEqual(["\u001b[A"]);
    heard.push("\u001b");
    heard.pass(ESCAPE_MS);
    expect(heard.keys).toEqual(["\u001b[A", "\u001b"]);
  });

  it("reads Esc before a key as Esc, and Esc before an arrow as Alt and the arrow", () => {
    const heard = setUp();
    heard.push("\u001b\u001b[27u");
    heard.push("\u001b\u001b[A");
    heard.push("\u001b\u001b");
    heard.pass(ESCAPE_MS);
    heard.pass(ESCAPE_MS);
    expect(heard.keys).toEqual(["\u001b", "\u001b[27u", "\u001b[1;3A", "\u001b", "\u001b"]);
  });

  it("reads the beginning of a sequence that nothing follows as keys", () => {
    const heard = setUp();
    heard.push("\u001b[1");
    heard.pass(SEQUENCE_MS - 1);
    expect(heard.keys).toEqual([]);
    heard.pass(1);
    expect(heard.keys).toEqual(["\u001b[", "1"]);
  });

  it("waits for the end of a slow answer of the terminal, and reads it as keys only after a long time", () => {
    const heard = setUp();
    heard.push("\u001b]11;rgb:00");
    heard.pass(STRING_MS - 1);
    heard.push("00/0000/0000\u0007x");
    expect([heard.reports, heard.keys]).toEqual([["\u001b]11;rgb:0000/0000/0000\u0007"], ["x"]]);
    heard.push("\u001b]1");
    heard.pass(STRING_MS - 1);
    heard.push("2");
    heard.pass(1);
    expect(heard.keys).toEqual(["x", "\u001b]", "12"]);
  });

  it("reads text after Alt-] as text", () => {
    const heard = setUp();
    heard.push("\u001b]hello\r");
    expect(heard.keys).toEqual(["\u001b]", "hello", "\r"]);
  });

  it.each(["\u0003", "\u001b[99;5u", "\u001b[27;5;99~"])("ends a paste without an end at Ctrl-C, sent as %j, with its text", (ctrlC) => {
    const heard = setUp();
    heard.push("\u001b[200~half");
    heard.push(ctrlC);
    heard.push("x");
    expect([heard.pastes, heard.keys]).toEqual([["half"], ["x"]]);
  });

  it("reads a paste of 10 MB in small pieces in linear time", () => {
    const heard = setUp();
    const text = "0123456789abcdef\n".repeat(600_000);
    const bytes = Buffer.from(`\u001b[200~${text}\u001b[201~`);
    for (let start = 0; start < bytes.length; start += 1_024) heard.push(bytes.subarray(start, start + 1_024));
    expect(heard.pastes[0] === text).toBe(true);
  });
});
