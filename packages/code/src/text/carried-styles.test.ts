import { styleText } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createXtermDevice } from "../../test/xterm-device.ts";
import { closedLine } from "../terminal/closed-line.ts";
import { carriedStyles } from "./carried-styles.ts";
import { createStyle } from "./style.ts";

const style = createStyle(true);

describe("carriedStyles", () => {
  it("begins each row with the styles that are open before it", () => {
    expect(carriedStyles(["\u001b[33mone", "two\u001b[39m", "three"])).toEqual(["\u001b[33mone", "\u001b[33mtwo\u001b[39m", "three"]);
    expect(carriedStyles(["\u001b[1m\u001b[38;5;9mone\u001b[22m", "two\u001b[0m", "three"])).toEqual([
      "\u001b[1m\u001b[38;5;9mone\u001b[22m",
      "\u001b[38;5;9mtwo\u001b[0m",
      "three",
    ]);
  });

  it("leaves rows without styles alone", () => {
    const rows = ["one", "two"];
    expect(carriedStyles(rows)).toBe(rows);
  });

  it("shows each letter of a line in its style, wherever the line is broken and although each row is closed", async () => {
    const paint = fc.constantFrom(style.red, style.bold, style.dim, style.italic, style.cyan, (text: string) =>
      styleText("bgBlue", text, { validateStream: false }),
    );
    const piece = fc.record({ text: fc.stringMatching(/^[a-z]{1,6}$/), outer: fc.option(paint), inner: paint });
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 9 }), async (pieces, length) => {
        const line = pieces.map(({ text, outer, inner }) => (outer ?? String)(`${text}${inner(text)}`)).join(" ");
        const words = line.split(" ");
        const rows = words.flatMap((_, index) => (index % length === 0 ? [words.slice(index, index + length).join(" ")] : []));
        const device = createXtermDevice({ columns: 200 });
        device.write(`${line}\r\n${carriedStyles(rows).map(closedLine).join("\r\n")}`);
        await device.settled();
        const [whole = [], ...broken] = device.styledRows();
        const letters = (cells: readonly string[]): readonly string[] => cells.filter((cell) => !cell.startsWith(" "));
        expect(letters(broken.flat())).toEqual(letters(whole));
        device.dispose();
      }),
      { numRuns: 40 },
    );
  });
});
