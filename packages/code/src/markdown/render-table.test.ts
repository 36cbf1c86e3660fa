import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayWidth } from "../text/display-width.ts";
import { createPlainHighlight } from "./highlight-code.ts";
import { markdownLines } from "./markdown-words.ts";
import { createTheme } from "./theme.ts";

const lines = (text: string, columns: number): string[] =>
  markdownLines(text, columns, { theme: createTheme("none"), highlight: createPlainHighlight() });
const TABLE = "| Name | Size | Note |\n|:--|--:|:-:|\n| keelson | 10 MB | a coding agent |\n| 中文 | 5 MB | x |";

describe("renderTable", () => {
  it("aligns its columns, in Chinese too", () => {
    expect(lines(TABLE, 60)).toEqual([
      "┌─────────┬───────┬────────────────┐",
      "│ Name    │  Size │      Note      │",
      "├─────────┼───────┼────────────────┤",
      "│ keelson │ 10 MB │ a coding agent │",
      "│ 中文    │  5 MB │       x        │",
      "└─────────┴───────┴────────────────┘",
    ]);
  });

  it("breaks cells at spaces where there is too little room, with lines between the rows", () => {
    expect(lines(TABLE, 30)).toEqual([
      "┌─────────┬───────┬──────────┐",
      "│ Name    │  Size │   Note   │",
      "├─────────┼───────┼──────────┤",
      "│ keelson │ 10 MB │ a coding │",
      "│         │       │  agent   │",
      "├─────────┼───────┼──────────┤",
      "│ 中文    │  5 MB │    x     │",
      "└─────────┴───────┴──────────┘",
    ]);
  });

  it("lists the cells of each row where their words do not fit side by side", () => {
    expect(lines(TABLE, 20)).toEqual(["Name: keelson", "Size: 10 MB", "Note: a coding agent", "", "Name: 中文", "Size: 5 MB", "Note: x"]);
    expect(lines("|a|\n|-|\n|https://example.com/a/long/address|", 20)).toEqual(["a:", "https://example.com/a/long/address"]);
  });

  it("is never wider than the screen, unless a word is", () => {
    const cell = fc.array(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 6 }).map((words) => words.join(" "));
    const row = fc.tuple(cell, cell, cell);
    fc.assert(
      fc.property(fc.array(row, { minLength: 2, maxLength: 5 }), fc.integer({ min: 12, max: 100 }), ([head, ...rows], columns) => {
        const text = [head, ["-", "-:", ":-:"], ...rows].map((cells) => `|${cells?.join("|")}|`).join("\n");
        const shown = lines(text, columns);
        for (const line of shown) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
        const letters = (all: string): string[] => (all.match(/[a-z]/g) ?? []).toSorted();
        if (shown[0]?.startsWith("┌")) expect(letters(shown.join(""))).toEqual(letters(text));
      }),
    );
  });
});
