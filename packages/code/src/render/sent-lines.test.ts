import { describe, expect, it } from "vitest";
import { createStyle } from "../text/style.ts";
import { createFoldedOutputs } from "./folded-outputs.ts";
import { sentLines } from "./sent-lines.ts";

const style = createStyle(false);

describe("sentLines", () => {
  it("puts the sign of the prompt before the first line, and cuts none", () => {
    const long = "word ".repeat(100).trim();
    expect(sentLines(`${long}\nsecond\u001b[31m`, { style })).toEqual([`› ${long}`, "  second"]);
  });

  it("folds a long message to its beginning and its end, and keeps all of it to be opened", () => {
    const text = Array.from({ length: 500 }, (_, index) => `line ${index + 1}`).join("\n");
    const folds = createFoldedOutputs();
    const lines = sentLines(text, { style, folds });
    expect([lines.length, lines[0], lines[9], lines.at(-1)]).toEqual([
      13,
      "› line 1",
      "  … 488 more lines (Ctrl-O, /open 1)",
      "  line 500",
    ]);
    expect(folds.open()?.lines.join("\n")).toBe(text);
    expect(sentLines(text, { style, maxLines: 600 })).toHaveLength(500);
  });
});
