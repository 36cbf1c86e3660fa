import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createOutputWindow } from "./output-window.ts";

it("keeps all of what fits, and exactly head and tail of what does not", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom(..."abcdefgh") }), { maxLength: 30 }),
      fc.nat(20),
      fc.nat(20),
      (pieces, head, tail) => {
        const window = createOutputWindow(head, tail);
        for (const piece of pieces) window.push(Buffer.from(piece));
        const whole = pieces.join("");
        expect(window.totalBytes).toBe(whole.length);
        if (whole.length <= head + tail) expect(window.text()).toBe(whole);
        else
          expect(window.text()).toBe(
            `${whole.slice(0, head)}\n[... ${whole.length - head - tail} bytes omitted ...]\n${tail === 0 ? "" : whole.slice(-tail)}`,
          );
        expect(window.omittedBytes).toBe(Math.max(0, whole.length - head - tail));
      },
    ),
  );
});

it("never shows half a character at the cut", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "é", "€", "😀"), minLength: 10 }),
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 12 }),
      (text, head, tail) => {
        const window = createOutputWindow(head, tail);
        for (const byte of Buffer.from(text)) window.push(Uint8Array.of(byte));
        expect(window.text()).not.toContain("\uFFFD");
      },
    ),
  );
});

it("leaves bytes that are no UTF-8 visible as such", () => {
  const window = createOutputWindow(8, 0);
  window.push(Uint8Array.of(0xff, 0x41));
  expect(window.text()).toBe("\uFFFDA");
});
