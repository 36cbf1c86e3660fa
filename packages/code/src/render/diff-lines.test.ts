import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { createCodeHighlight } from "../markdown/highlight-code.ts";
import { createTheme } from "../markdown/theme.ts";
import { displayWidth } from "../text/display-width.ts";
import { createStyle } from "../text/style.ts";
import { diffLines, type DiffOptions, patchLines, patchTextLines } from "./diff-lines.ts";

const style = createStyle(false);
const plain = (before: string, after: string, options: Partial<DiffOptions> = {}): string[] =>
  diffLines(before, after, { style, columns: 60, ...options });

const highlight = createCodeHighlight();
beforeAll(() => highlight.load("ts"));

describe("diffLines", () => {
  it("marks lines with signs and whole files with line numbers, aligned right", () => {
    const before = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`).join("\n");
    const after = before.replace("line 2\n", "line two\n").replace("line 11\n", "");
    expect(plain(before, after, { numbers: true })).toEqual([
      " 1   line 1",
      " 2 - line 2",
      " 2 + line two",
      " 3   line 3",
      "     ⋮",
      "10   line 10",
      "11 - line 11",
      "11   line 12",
    ]);
    expect(plain("a\nb", "a\nc")).toEqual(["  a", "- b", "+ c"]);
  });

  it("shows a changed line in several rows if the changed word is beyond the end of the first", () => {
    const before = 'const title = "A page about the sea";';
    expect(plain(before, before.replace("sea", "sun"), { columns: 30 })).toEqual(
      ['- const title = "A page about ', '  the sea";', '+ const title = "A page about ', '  the sun";'].map((line) => line.trimEnd()),
    );
    expect(plain(before, before.replace("title", "words"), { columns: 30 })).toEqual([
      '- const title = "A page about…',
      '+ const words = "A page about…',
    ]);
  });

  it("cuts a wide line with an ellipsis, or shows all of it in several rows", () => {
    const after = "const value = someFunction(first, second, third);";
    expect(plain("", after, { columns: 30, numbers: true })).toEqual(["1 + const value = someFunctio…"]);
    const rows = plain("", after, { columns: 30, numbers: true, whole: true });
    expect(rows).toEqual(["1 + const value =", "    someFunction(first,", "    second, third);"]);
  });

  it("shows every character within the width, if it is asked for whole lines", () => {
    const text = fc.array(
      fc.string({ unit: "grapheme", maxLength: 60 }).map((line) => line.replace(/[\p{C}\p{Zl}\p{Zp}\u00a0]/gu, " ")),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(text, fc.integer({ min: 12, max: 80 }), (lines, columns) => {
        const rows = plain("", lines.join("\n"), { columns, whole: true, numbers: true, maxLines: 1_000 });
        for (const row of rows) expect(displayWidth(row)).toBeLessThanOrEqual(columns);
        const digits = String(lines.length).length;
        expect(
          rows
            .map((row) => row.slice(digits + 3))
            .join("")
            .replaceAll(" ", ""),
        ).toBe(lines.join("").replaceAll(" ", ""));
      }),
    );
  });

  it("marks the words that changed, if the lines are alike", () => {
    const theme = createTheme("ansi");
    const painted = diffLines("let total = a + b;\nx", "let total = a - b;\nx", { style, theme, columns: 60 });
    expect(painted.slice(0, 2)).toEqual([
      "\u001b[31m- let total = a \u001b[0m\u001b[31;7m+\u001b[0m\u001b[31m b;\u001b[0m",
      "\u001b[32m+ let total = a \u001b[0m\u001b[32;7m-\u001b[0m\u001b[32m b;\u001b[0m",
    ]);
    const unlike = diffLines("something else\n", "entirely different words\n", { style, theme, columns: 60 });
    expect(unlike.join("")).not.toContain(";7m");
  });

  it("colours the code of a new file and of unchanged lines, and leaves changed lines in the colours of the change", () => {
    const theme = createTheme("ansi");
    const options = { style, theme, columns: 60, highlight, path: "a.ts" };
    expect(diffLines("", "const a = 1;", options)).toEqual(["\u001b[32m+ \u001b[0m\u001b[35mconst\u001b[0m a = \u001b[33m1\u001b[0m;"]);
    const [context = "", removed = ""] = diffLines("let a;\nlet b;", "let a;\nlet c;", options);
    expect(context).toContain("\u001b[35mlet\u001b[0m");
    expect(removed).not.toContain("\u001b[35m");
    expect(diffLines("", "// all of it\nplain", options)).toEqual([
      "\u001b[32m+ \u001b[0m\u001b[2m// all of it\u001b[0m",
      "\u001b[32m+ \u001b[0mplain",
    ]);
  });

  it("shows code in the colours of the change until its language is loaded", async () => {
    const late = createCodeHighlight();
    const options = { style, theme: createTheme("ansi"), columns: 60, highlight: late, path: "a.ts" };
    expect(diffLines("", "let a;", options)).toEqual(["\u001b[32m+ let a;\u001b[0m"]);
    await late.load("ts");
    expect(diffLines("", "let a;", options)[0]).toContain("\u001b[35mlet");
  });

  it("leaves out lines beyond the limit and keeps them for opening", () => {
    const kept: (readonly string[])[] = [];
    const after = Array.from({ length: 30 }, (_, index) => `${index}`).join("\n");
    const lines = plain("", after, { maxLines: 10, keep: (all) => kept.push(all) });
    expect(lines.at(-1)).toBe("… 20 more lines (Ctrl-O, /open 1)");
    expect([lines.length, kept[0]?.length]).toEqual([11, 30]);
  });

  it("counts the lines that are left out in the same way, whether or not they can be opened", () => {
    const after = Array.from({ length: 30 }, (_, index) => `${index}`).join("\n");
    expect(plain("", after, { maxLines: 10 }).at(-1)).toBe("… 20 more lines");
    expect(plain("", after, { maxLines: 29 })).toHaveLength(30);
  });

  it("removes all and adds all instead of comparing long unlike texts", () => {
    const text = (prefix: string): string => Array.from({ length: 1_500 }, (_, index) => `${prefix}${index}`).join("\n");
    const lines = plain(text("a"), text("b"), { maxLines: 5_000, numbers: true });
    expect([lines.length, lines[0], lines[1_500], lines.at(-1)]).toEqual([3_000, "   1 - a0", "   1 + b0", "1500 + b1499"]);
  });

  it("shows a new file of any length as added, and an emptied one as removed", () => {
    const text = Array.from({ length: 3_000 }, (_, index) => `line ${index + 1}`).join("\n");
    expect(plain("", `${text}\n`, { maxLines: 5_000 })).toHaveLength(3_000);
    expect(plain("a\n", "")).toEqual(["- a"]);
  });

  it("keeps spaces at the end of a changed line, where they may be the change", () => {
    expect(plain("a", "a  ")).toEqual(["- a", "+ a  "]);
  });

  it("shows no control character", () => {
    expect(plain("", "\u001b[2Ja\u0007\tb\r\n")).toEqual(["+ a␇  b"]);
  });
});

describe("patchLines", () => {
  it("numbers the lines of each hunk and keeps notes apart", () => {
    const patch = "Updated a.ts.\n@@ -9,2 +9,2 @@\n-old\n+new\n same\n\nMade b.ts.\n[a note]";
    expect(patchLines(patch, { style, columns: 40 })).toEqual([
      "     Updated a.ts.",
      " 9 - old",
      " 9 + new",
      "10   same",
      "     Made b.ts.",
      "     [a note]",
    ]);
  });
});

it("numbers a removed line on the old side and all others on the new side", () => {
  expect(patchLines("@@ -7,3 +7,3 @@\n+x\n a\n-b\n c", { style, columns: 40 })).toEqual(["7 + x", "8   a", "8 - b", "9   c"]);
});

describe("patchTextLines", () => {
  it("shows every line of a patch, with the names of its files", () => {
    const patch = ["*** Begin Patch", "*** Update File: a.ts", "@@ function a", " same", "-old", "+new", "*** End Patch"].join("\n");
    expect(patchTextLines(patch, { style, columns: 60 })).toEqual([
      "  *** Begin Patch",
      "  *** Update File: a.ts",
      "  @@ function a",
      "  same",
      "- old",
      "+ new",
      "  *** End Patch",
    ]);
  });

  it("takes a removed line of two minuses for no name of a file", () => {
    expect(patchTextLines("@@\n--- a comment in SQL\n+x", { style, columns: 60 })).toEqual(["  @@", "- -- a comment in SQL", "+ x"]);
    expect(patchTextLines("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b", { style, columns: 60 })).toEqual([
      "  --- a/x",
      "  +++ b/x",
      "  @@ -1 +1 @@",
      "- a",
      "+ b",
    ]);
  });
});
