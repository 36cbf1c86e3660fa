import { describe, expect, it } from "vitest";
import { createStyle } from "../text/style.ts";
import { createFoldedOutputs } from "./folded-outputs.ts";
import { noticeLines } from "./notice-lines.ts";

const style = createStyle(false);

describe("noticeLines", () => {
  it("shows one or two lines whole, without control characters", () => {
    expect(noticeLines("it failed\u001b[31m", { style })).toEqual(["! it failed"]);
    expect(noticeLines("it failed:\nno space\n", { style })).toEqual(["! it failed:", "  no space"]);
  });

  it("folds the rest of a long one if it can be opened", () => {
    const folds = createFoldedOutputs();
    expect(noticeLines("the server ended, and wrote:\nat a\nat b\nat c", { style, folds })).toEqual([
      "! the server ended, and wrote:",
      "  … 3 more lines (Ctrl-O, /open 1)",
    ]);
    expect(noticeLines("it wrote:\na\nb\nc", { style })).toEqual(["! it wrote:", "  a", "  b", "  c"]);
    expect(folds.open()?.lines).toEqual(["the server ended, and wrote:", "at a", "at b", "at c"]);
  });
});
