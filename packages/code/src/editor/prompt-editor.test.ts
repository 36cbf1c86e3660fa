import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createStyle } from "../text/style.ts";
import { createPromptEditor, type PromptEditor, type PromptEditorOptions } from "./prompt-editor.ts";

const UP = "\u001b[A";
const DOWN = "\u001b[B";
const ENTER = "\r";

function setUp(options: Partial<PromptEditorOptions> = {}): {
  readonly editor: PromptEditor;
  readonly sent: string[];
  type(...keys: string[]): void;
} {
  const sent: string[] = [];
  const editor = createPromptEditor({ style: createStyle(false), onChange() {}, onSend: (text) => sent.push(text), ...options });
  return {
    editor,
    sent,
    type(...keys) {
      for (const key of keys) editor.handle(key);
    },
  };
}

/** The rows of the editor, with a bar at the cursor. */
function shown({ part }: PromptEditor, columns = 40, rows = 20): string {
  const { lines, cursor } = part.rows({ columns, rows });
  return lines
    .map((line, index) =>
      index === cursor?.row ? `${line.padEnd(cursor.column).slice(0, cursor.column)}|${line.slice(cursor.column)}` : line,
    )
    .join("\n");
}

describe("createPromptEditor", () => {
  it.each([
    ["Shift-Enter of the kitty protocol", "\u001b[13;2u"],
    ["Shift-Enter of modifyOtherKeys", "\u001b[27;2;13~"],
    ["Alt-Enter", "\u001b\r"],
    ["Ctrl-J", "\n"],
    ["Ctrl-J of the kitty protocol", "\u001b[106;5u"],
  ])("makes a new line with %s", (_name, key) => {
    const { editor, type, sent } = setUp();
    type("one", key, "two");
    expect(shown(editor)).toBe("› one\n  two|");
    type(ENTER);
    expect(sent).toEqual(["one\ntwo"]);
  });

  it("makes a new line with a backslash and Enter", () => {
    const { type, sent } = setUp();
    type("one\\", ENTER, "two", ENTER);
    expect(sent).toEqual(["one\ntwo"]);
  });

  it("deletes graphemes, and undoes that", () => {
    const { editor, type } = setUp();
    type("a👨‍👩‍👧‍👦", "\u007f");
    expect(editor.text()).toBe("a");
    type("\u001f");
    expect(editor.text()).toBe("a👨‍👩‍👧‍👦");
  });

  it("moves by words, and inserts what was deleted", () => {
    const { editor, type } = setUp();
    type("one two three", "\u0017", "\u001bb", "\u001bb", "\u0019");
    expect(editor.text()).toBe("threeone two ");
  });

  it("folds a long paste into a marker, which one key deletes, and sends it whole", () => {
    const { editor, type, sent } = setUp();
    const text = Array.from({ length: 120 }, (_, index) => `line ${index}\twith a tab`).join("\r\n");
    type("see ");
    editor.paste(text);
    expect(shown(editor)).toBe("› see [paste #1 +120 lines]|");
    type("!", ENTER);
    expect(sent).toEqual([`see ${text.replaceAll("\r\n", "\n")}!`]);
    editor.paste("x".repeat(1_001));
    expect(shown(editor)).toBe("› [paste #1 1001 chars]|");
    type("\u007f");
    expect(editor.text()).toBe("");
    type("\u001f");
    expect(editor.text()).toBe("x".repeat(1_001));
  });

  it("keeps a paste that was cleared, for undo", () => {
    const { editor, type } = setUp();
    const text = "line\n".repeat(20);
    editor.paste(text);
    editor.setText("");
    type("\u001f");
    expect(editor.text()).toBe(text);
  });

  it("keeps the characters of any typed and pasted text, in order", () => {
    const content = fc
      .oneof(fc.string({ unit: "grapheme" }), fc.string({ unit: "binary" }))
      .map((text) => text.replace(/[\u{f0000}-\u{10ffff}]/gu, ""));
    const typed = content.map((text) => text.replace(/\p{Cc}/gu, ""));
    const long = fc.array(content, { minLength: 12, maxLength: 14 }).map((lines) => lines.join("\n"));
    const part = fc.oneof(
      typed.map((text) => ({ isPaste: false, text })),
      content.map((text) => ({ isPaste: true, text })),
      long.map((text) => ({ isPaste: true, text })),
      fc
        .constantFrom(
          "/usr/bin",
          "~/x",
          ".ts",
          "a\tb",
          "\u001b[31mred\u001b[0m",
          "\u202eevil",
          "\ufeffbom",
          "~/x\n".repeat(12),
          `/${"x".repeat(1_000)}`,
        )
        .map((text) => ({ isPaste: true, text })),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const { editor, type, sent } = setUp();
        for (const { isPaste, text } of parts) {
          if (isPaste) editor.paste(text);
          else if (text !== "") type(text);
        }
        const whole = parts.map(({ text }) => text.replace(/\r\n?/g, "\n")).join("");
        fc.pre(!whole.endsWith("\\"));
        type(ENTER);
        expect(sent).toEqual([whole]);
      }),
      { numRuns: 300 },
    );
  });

  it("shows rows of at most its columns and its room, with the cursor in them", () => {
    const content = fc.string({ unit: "grapheme", maxLength: 200 });
    fc.assert(
      fc.property(content, fc.integer({ min: 12, max: 100 }), fc.integer({ min: 1, max: 12 }), fc.nat(20), (text, columns, rows, ups) => {
        const { editor, type } = setUp();
        editor.setText(`${text}\n${text}`);
        for (let index = 0; index < ups; index += 1) type("\u001b[D", UP);
        const { lines, cursor } = editor.part.rows({ columns, rows });
        expect(lines.length).toBeLessThanOrEqual(rows);
        expect(cursor?.row).toBeGreaterThanOrEqual(0);
        expect(cursor?.row).toBeLessThan(lines.length);
        expect(cursor?.column).toBeLessThan(columns);
      }),
      { numRuns: 200 },
    );
  });

  it("shows control characters and hidden marks as pictures of one column", () => {
    const { editor } = setUp();
    editor.paste("a\tb\u001bc\u202ed");
    expect(shown(editor)).toBe("› a→b␛c·d|");
  });

  it("goes through its history at the first and the last row, and keeps what was typed and edited", () => {
    const { editor, type } = setUp({ history: ["newest\nof two lines", "oldest"] });
    type("draft", UP);
    expect(shown(editor)).toBe("› newest\n  of two lines|");
    type(UP, "X", UP);
    expect(editor.text()).toBe("oldest");
    type(UP);
    expect(editor.text()).toBe("oldest");
    type(DOWN);
    expect(editor.text()).toBe("newestX\nof two lines");
    type(DOWN);
    expect(editor.text()).toBe("draft");
  });

  it("puts a sent message at the top of its history, once", () => {
    const { editor, type } = setUp({ history: ["old", "again"] });
    type("again", ENTER, UP);
    expect(editor.text()).toBe("again");
    type(UP);
    expect(editor.text()).toBe("old");
    type(UP);
    expect(editor.text()).toBe("old");
  });

  it("folds a long message of its history, and sends it whole", () => {
    const long = "a line\tof a log\n".repeat(50_000);
    const { editor, type, sent } = setUp({ history: [long, "x".repeat(20_001)] });
    type(UP);
    expect(shown(editor)).toBe("› [paste #1 +50001 lines]|");
    type(ENTER);
    type(UP, UP);
    expect(shown(editor)).toBe("› [paste #1 20001 chars]|");
    expect(sent[0] === long).toBe(true);
  });

  it("searches its history with Ctrl-R: Tab gives the match to be edited, Enter sends it, Esc returns to what was typed", () => {
    const { editor, type, sent } = setUp({ history: ["run the tests", "fix the build\nnow", "write docs"] });
    type("draft", "\u0012", "the");
    expect(shown(editor)).toBe("search › the|\n→ run the tests\n  fix the build (+1 line)");
    type("\u0012", "\t");
    expect(editor.text()).toBe("fix the build\nnow");
    editor.setText("draft");
    type("\u0012", "wdc");
    expect(shown(editor)).toBe("search › wdc|\n→ write docs");
    expect(editor.close()).toBe(true);
    expect(shown(editor)).toBe("› draft|");
    type("\u0012", "docs", ENTER);
    expect(sent).toEqual(["write docs"]);
    type("\u0012");
    editor.paste("\nfix the\n");
    expect(shown(editor)).toBe("search › fix the|\n→ fix the build (+1 line)");
    editor.close();
    type("\u0012", "nothing like it");
    expect(shown(editor)).toBe("search › nothing like it|\n  no earlier message matches");
  });

  it("shows the sign of a shell for a command", () => {
    const { editor, type } = setUp();
    type("!ls");
    expect(shown(editor)).toBe("$ !ls|");
  });

  it("has one line, and neither history nor search, for answers", () => {
    const { editor, type, sent } = setUp({ isOneLine: true, history: ["earlier"] });
    type("a", "\n", "\u001b\r", UP, "\u0012", "\\", ENTER);
    expect(sent).toEqual(["\\a"]);
    expect(editor.text()).toBe("");
  });

  it("shows a text that is hidden as its prompt alone", () => {
    const { editor, type } = setUp();
    type("secret draft");
    editor.label({ lead: "[draft kept] ", prompt: "[y]es ⋯ ", isHidden: true });
    expect(shown(editor)).toBe("[draft kept] [y]es ⋯ |");
  });

  it("marks rows that its room cuts off", () => {
    const { editor, type } = setUp();
    editor.setText(Array.from({ length: 30 }, (_, index) => `row ${index}`).join("\n"));
    expect(shown(editor, 40, 4)).toBe("↑ row 26\n  row 27\n  row 28\n  row 29|");
    for (let index = 0; index < 29; index += 1) type(UP);
    expect(shown(editor, 40, 4)).toBe("› row 0|\n  row 1\n  row 2\n↓ row 3");
  });
});
