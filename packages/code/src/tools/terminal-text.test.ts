import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTerminalText } from "./terminal-text.ts";

function whole(...pieces: readonly string[]): string {
  const terminal = createTerminalText();
  return pieces.map((piece) => terminal.push(piece)).join("") + terminal.end();
}

describe("terminal text", () => {
  it.each([
    ["colours", "\u001b[1;31mred\u001b[0m", "red"],
    ["cursor moves", "a\u001b[2Kb\u001b[10;5Hc", "abc"],
    ["titles and links", "\u001b]0;title\u0007x\u001b]8;;http://a\u001b\\link\u001b]8;;\u001b\\", "xlink"],
    ["character sets", "\u001b(Bx\u001b=y", "xy"],
    ["control characters", "a\u0000b\u0007c\td", "abc\td"],
    ["a progress bar", "10%\r50%\r100%\ndone", "100%\ndone"],
    ["a bar cleared at the end of its line", "working\r\nnext\r\n", "working\nnext\n"],
    ["a title that never ends", "\u001b]0;oops\nnext line", "\nnext line"],
    ["an escape at the end", "end\u001b[", "end"],
  ])("loses %s", (_name, given, expected) => {
    expect(whole(given)).toBe(expected);
  });

  it("is the same however it is cut into pieces", () => {
    const unit = fc.constantFrom("a", "é", "😀", "\n", "\r", "\r\n", "\u001b[31m", "\u001b]0;t\u0007", "\u001b(B", "\u0000", "\t");
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 30 }), fc.array(fc.nat(60), { maxLength: 6 }), (units, cuts) => {
        const text = units.join("");
        const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
        const pieces = places.slice(1).map((end, index) => text.slice(places[index], end));
        expect(whole(...pieces)).toBe(whole(text));
      }),
      { numRuns: 1000 },
    );
  });

  it("leaves nothing of the terminal in the text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("\u001b", "[", "]", "0", ";", "m", "\u0007", "a", "\r", "\n", "(", "P", "\\") }),
        (text) => {
          // oxlint-disable-next-line no-control-regex
          expect(whole(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("passes on a line that never ends, without keeping it", () => {
    const terminal = createTerminalText();
    let passed = 0;
    for (let round = 0; round < 100; round++) passed += terminal.push("x".repeat(10_000)).length;
    expect(passed).toBeGreaterThan(900_000);
    expect(passed + terminal.end().length).toBe(1_000_000);
  });

  it("keeps only the last state of a bar that is never followed by a line end", () => {
    const terminal = createTerminalText();
    let passed = "";
    for (let round = 0; round < 5000; round++) passed += terminal.push(`${"#".repeat(50)} ${round}\r`);
    expect(passed + terminal.end()).toBe(`${"#".repeat(50)} 4999`);
  });
});
