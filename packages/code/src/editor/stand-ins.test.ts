import { visibleWidth } from "@earendil-works/pi-tui";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayWidth } from "../text/display-width.ts";
import { fromEditable, shownRow, toEditable } from "./stand-ins.ts";

describe("the stand-ins of characters that an editor cannot hold", () => {
  it("keep every text but its line ends", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        fc.pre(!/[\u{f0000}-\u{10ffff}]/u.test(text));
        expect(fromEditable(toEditable(text))).toBe(text.replace(/\r\n?/g, "\n"));
      }),
      { numRuns: 300 },
    );
  });

  it("replace half characters and private characters that could be taken for stand-ins", () => {
    expect(fromEditable(toEditable("a\ud800b\u{f0009}c\u{100000}"))).toBe("a\ufffdb\ufffdc\ufffd");
  });

  it("are shown without control characters and hidden marks, each in one column", () => {
    for (const code of [0x00, 0x09, 0x1b, 0x7f, 0x85, 0xad, 0x200b, 0x202e, 0xfeff]) {
      const held = toEditable(String.fromCharCode(code));
      expect([visibleWidth(held), displayWidth(shownRow(held)), /\p{C}/u.test(shownRow(held))]).toEqual([1, 1, false]);
    }
  });
});
