import { describe, expect, it } from "vitest";
import { questionLines } from "./question-lines.ts";
import { createStyle } from "../text/style.ts";

const options = { style: createStyle(false), columns: 60 };
const reason = "In permission mode default, bash asks first (effect write, risk high).";

describe("a question", () => {
  it("is one sentence if that shows the whole call, without the words of permissions", () => {
    const summary = "`npm test` is not allowed yet";
    expect(questionLines({ operation: "bash", input: { command: "npm test", timeout_seconds: 5 }, reason, summary }, options)).toEqual([
      `? ${summary}`,
    ]);
  });

  it("shows a plan whole before what is asked about it", () => {
    const asked = { message: "Carry out this plan?" };
    const input = { plan: "1. Read\n2. Write what takes more words than there are columns in this narrow terminal" };
    expect(questionLines({ operation: "present_plan", input, reason, asked }, options)).toEqual([
      "? present_plan 1. Read",
      "  │ 1. Read",
      "  │ 2. Write what takes more words than there are columns in",
      "  │ this narrow terminal",
      "  it asks:",
      "    Carry out this plan?",
    ]);
  });

  it("shows the line and its commands if there are several", () => {
    const input = { command: "npm ci && ls; rm -rf build" };
    const summary = "`npm ci` and `rm -rf build` are not allowed yet";
    const parts = [{ text: "npm ci", why: "not allowed yet" }, { text: "ls" }, { text: "rm -rf build", why: "deletes `build`" }];
    expect(questionLines({ operation: "bash", input, reason, summary, parts }, options)).toEqual([
      `? ${summary}`,
      "  │ npm ci && ls; rm -rf build",
      "  · npm ci",
      "      not allowed yet",
      "  · ls",
      "  · rm -rf build",
      "      deletes `build`",
    ]);
  });

  it("shows what an edit changes", () => {
    const input = { path: "src/a.ts", old_string: "x", new_string: "y" };
    const lines = questionLines({ operation: "edit_file", input, reason, summary: "`edit_file` changes `src/a.ts`" }, options);
    expect(lines).toEqual(["? `edit_file` changes `src/a.ts`", "  │ - x", "  │ + y"]);
  });

  it("shows each of several edits, and a patch line by line", () => {
    const edits = [
      { old_string: "x", new_string: "y" },
      { old_string: "a", new_string: "b" },
    ];
    expect(questionLines({ operation: "edit_file", input: { path: "a.ts", edits }, reason, summary: "?" }, options).slice(1)).toEqual([
      "  │ - x",
      "  │ + y",
      "  │   ⋮",
      "  │ - a",
      "  │ + b",
    ]);
    const patch = "*** Begin Patch\n*** Delete File: a.ts\n*** Update File: b.ts\n@@\n one\n-two\n+\u001b[2J\n*** End Patch";
    expect(questionLines({ operation: "apply_patch", input: { input: patch }, reason }, options)[0]).toBe("? apply_patch a.ts, b.ts");
    const lines = questionLines({ operation: "apply_patch", input: { input: patch }, reason, summary: "?" }, options);
    expect(lines.slice(1, 8).map((line) => line.trimEnd())).toEqual([
      "  │   *** Begin Patch",
      "  │   *** Delete File: a.ts",
      "  │   *** Update File: b.ts",
      "  │   @@",
      "  │   one",
      "  │ - two",
      expect.stringMatching(/^ {2}│ \+/),
    ]);
    expect(lines.join("")).not.toContain("\u001b");
  });

  it("shows all arguments of another tool", () => {
    const lines = questionLines(
      { operation: "pay", input: { to: "Ada", amount: 5 }, reason, summary: "`pay` is not allowed yet" },
      options,
    );
    expect(lines.join("\n")).toMatch(/`pay` is not allowed yet\n.*\{\n.*"to": "Ada",\n.*"amount": 5/);
  });

  it("shows a command of several lines as a whole, and nothing in it acts on the terminal", () => {
    const input = { command: "echo a\necho \u001b[2Jb" };
    const lines = questionLines({ operation: "bash", input, reason, summary: "`echo \u001b[2J` is not allowed yet" }, options);
    expect(lines.join("\n")).toContain("  │ echo a");
    expect(lines.join("")).not.toContain("\u001b");
  });

  it("without a sentence shows the call and the reason of the gate", () => {
    const lines = questionLines({ operation: "bash", input: { command: "ls" }, reason: 'the hook "guard": look first' }, options);
    expect(lines).toEqual(["? bash ls", '  the hook "guard": look first']);
  });
});
