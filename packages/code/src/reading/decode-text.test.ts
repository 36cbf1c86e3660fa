import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeText } from "./decode-text.ts";
import { ENCODING_SAMPLES } from "../../test/encoding-samples.ts";
import { encodeText } from "./encode-text.ts";
import { splitText } from "./split-lines.ts";
import type { TextEncoding } from "./text-encoding.ts";

const encoded = (text: string, encoding: TextEncoding, hasMark = false): Uint8Array => {
  const bytes = encodeText(text, encoding, { hasMark });
  if (bytes === undefined) throw new Error(`${encoding} lacks a character of ${JSON.stringify(text)}`);
  return bytes;
};

/** Any character; `fc` takes seconds to prepare its own kinds of them. */
const character = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

describe("the detection of encodings", () => {
  it.each(ENCODING_SAMPLES)("reads $name as $encoding", ({ text, encoding }) => {
    const found = decodeText(encoded(text, encoding));
    expect(found).toMatchObject({ text, encoding });
  });

  it("states a confidence, which is a guess for a few characters", () => {
    expect(decodeText(encoded("caf\u00e9", "windows-1252"))).toMatchObject({ encoding: "windows-1252", confidence: "guess" });
    expect(decodeText(Buffer.from("caf\u00e9"))).toMatchObject({ encoding: "utf-8", confidence: "certain" });
    const chinese = ENCODING_SAMPLES.find(({ encoding }) => encoding === "gb18030")?.text ?? "";
    expect(decodeText(encoded(chinese, "gb18030"))).toMatchObject({ confidence: "likely" });
  });

  it("reads Unicode and GB18030 with a byte order mark, which is no part of the text", () => {
    for (const encoding of ["utf-8", "utf-16le", "utf-16be", "gb18030"] as const)
      expect(decodeText(encoded("a\u4e2d\n", encoding, true))).toMatchObject({
        text: "a\u4e2d\n",
        encoding,
        confidence: "certain",
        isDamaged: false,
      });
  });

  it("keeps reading UTF-8 whose bytes are damaged at a few places, and says so", () => {
    const bytes = Buffer.concat([
      Buffer.from("Gr\u00fc\u00dfe \u2013 na\u00efve caf\u00e9 \u00e0 \u00f6\u00e4\u00fc\u00df\u00e9\u00e8\n".repeat(3)),
      Buffer.from([0xff]),
      Buffer.from("end\n"),
    ]);
    expect(decodeText(bytes)).toMatchObject({ encoding: "utf-8", confidence: "likely", isDamaged: true });
  });

  it("does not take programs, archives and random bytes for text", () => {
    expect(decodeText(Buffer.from([0x7f, 0x45, 0, 1, 2]))).toBeUndefined();
    expect(decodeText(Buffer.from([1, 0, 2, 0, 3, 0]))).toBeUndefined();
    expect(decodeText(Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0]))).toBeUndefined();
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 2000, maxLength: 4000, size: "max" }), (bytes) => {
        // Without zero bytes, which settle it already.
        expect(decodeText(bytes.map((byte) => byte || 1))).toBeUndefined();
      }),
      { numRuns: 30 },
    );
  });

  it("reads a file in the encoding that is asked for, and refuses names that are none", () => {
    const bytes = Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]);
    expect(decodeText(bytes, { encoding: "windows-1251" })).toMatchObject({
      text: "\u041f\u0440\u0438\u0432\u0435\u0442",
      encoding: "windows-1251",
    });
    expect(() => decodeText(bytes, { encoding: "klingon" })).toThrow(RangeError);
  });
});

describe("encoding and decoding", () => {
  it.each(["utf-8", "utf-16le", "utf-16be", "gb18030"] as const)("gives the text again in %s", (encoding) => {
    fc.assert(
      fc.property(fc.string({ unit: character }), fc.boolean(), (written, hasMark) => {
        const text = written.replace(/^\uFEFF/, "").toWellFormed();
        const bytes = encodeText(text, encoding, { hasMark });
        // GB18030 lacks some private characters, and says so.
        if (bytes === undefined) return encoding === "gb18030";
        expect(decodeText(bytes, { encoding })?.text).toBe(text);
        return true;
      }),
    );
  });

  it.each(["shift_jis", "windows-1252"] as const)("gives the text again in %s, or says that a character is missing", (encoding) => {
    const unit =
      encoding === "shift_jis"
        ? fc.constantFrom(..."\u3042\u30a2\u65e5\u672c\u8a9e\uff71\u3001\u3002aZ \n\u00e9")
        : fc.constantFrom(..."\u00e9\u00fc\u20ac\u201c\u2014aZ \n\u4e2d");
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        const lacks = encoding === "shift_jis" ? "\u00e9" : "\u4e2d";
        const bytes = encodeText(text, encoding);
        expect(bytes === undefined).toBe(text.includes(lacks));
        if (bytes !== undefined) expect(decodeText(bytes, { encoding })?.text).toBe(text);
      }),
    );
  });
});

describe("lines", () => {
  it("end at LF, at CR LF, and at CR where no LF is", () => {
    expect(splitText("a\nb\n")).toEqual({ lines: ["a", "b"], lineEnds: "lf" });
    expect(splitText("a\r\nb\r\n")).toEqual({ lines: ["a", "b"], lineEnds: "crlf" });
    expect(splitText("a\rb\r")).toEqual({ lines: ["a", "b"], lineEnds: "cr" });
    expect(splitText("a\r\nb\nc")).toEqual({ lines: ["a", "b", "c"], lineEnds: "mixed" });
    expect(splitText("10%\r20%\nend")).toEqual({ lines: ["10%\r20%", "end"], lineEnds: "lf" });
    expect(splitText("")).toEqual({ lines: [], lineEnds: "none" });
    expect(splitText("\n")).toEqual({ lines: [""], lineEnds: "lf" });
  });
});
