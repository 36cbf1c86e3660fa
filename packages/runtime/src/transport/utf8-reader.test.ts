import fc from "fast-check";
import { expect, it } from "vitest";
import { Utf8Reader } from "./utf8-reader.ts";

/** Bytes that are mostly text, with characters of every length, marks and plain rubbish between. */
const bytes = fc
  .array(
    fc.oneof(
      fc.string({ unit: "grapheme" }).map((text) => Buffer.from(text)),
      fc.constant(Buffer.from("\u{FEFF}")),
      fc.uint8Array({ maxLength: 4 }).map((raw) => Buffer.from(raw)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => Buffer.concat(parts));

function decode(input: Buffer, cuts: readonly number[]): string {
  const reader = new Utf8Reader();
  let text = "";
  let at = 0;
  for (const cut of [...cuts].map((ratio) => Math.floor(ratio * input.length)).sort((a, b) => a - b)) {
    text += reader.push(input.subarray(at, cut));
    at = cut;
  }
  return text + reader.push(input.subarray(at)) + reader.end();
}

it("decodes as a streaming TextDecoder does, wherever the bytes are cut", () => {
  fc.assert(
    fc.property(bytes, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 }), (input, cuts) => {
      expect(decode(input, cuts)).toBe(new TextDecoder().decode(input));
    }),
    { numRuns: 500 },
  );
});

it("decodes as a streaming TextDecoder does, byte by byte", () => {
  const input = Buffer.from("\u{FEFF}aé€😀\u{10FFFF}\u{FEFF}z");
  const cuts = Array.from({ length: input.length }, (_, at) => at / input.length);
  expect(decode(input, cuts)).toBe("aé€😀\u{10FFFF}\u{FEFF}z");
});

it("makes a character that the input ends in a replacement character", () => {
  expect(decode(Buffer.from("a😀").subarray(0, 3), [0.5])).toBe("a\u{FFFD}");
});
