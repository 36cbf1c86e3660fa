import { describe, expect, it } from "vitest";
import { closeMarks } from "./close-marks.ts";

describe("closeMarks", () => {
  it.each([
    ["a **bold", "a **bold**"],
    ["a **bold ", "a **bold**"],
    ["a **bold*", "a **bold**"],
    ["use `npm run", "use `npm run`"],
    ["use ``a ` b", "use ``a ` b``"],
    ["**see `a", "**see `a`**"],
    ["- item **b", "- item **b**"],
    ["**done**\n\nnext `x", "**done**\n\nnext `x`"],
  ])("closes the mark that is open in %j", (text, expected) => {
    expect(closeMarks(text)).toBe(expected);
  });

  it.each([
    "plain",
    "**a** `b`",
    "2 ** 3",
    "a **",
    "a `",
    "\\`a",
    "`**`",
    "**open\n\nnext",
    "1. x\n   ```sh\n   echo `date",
    "> ~~~\n> **a",
  ])("leaves %j as it is", (text) => {
    expect(closeMarks(text)).toBe(text);
  });
});
