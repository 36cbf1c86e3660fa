import { describe, expect, it } from "vitest";
import { displayWidth } from "../text/display-width.ts";
import { createStyle } from "../text/style.ts";
import { createFoldedOutputs } from "./folded-outputs.ts";
import { callPreview, toolResultLines } from "./tool-view.ts";

const style = createStyle(false);
const output = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join("\n");

describe("toolResultLines", () => {
  it("keeps a folded output under the title of its call, also that of a failure and of a diff", () => {
    const folds = createFoldedOutputs();
    const options = { style, columns: 60, folds };
    const result = { call: { name: "bash", input: { command: "npm test" } }, isError: false, durationMs: 1 };
    expect(toolResultLines({ ...result, output: output(30) }, options)).toContain("  │ … 20 more lines (Ctrl-O, /open 1)");
    expect(folds.open()).toEqual({ number: 1, title: "bash npm test", lines: output(30).split("\n") });
    expect(toolResultLines({ ...result, output: output(30), isError: true }, options)).toContain("  │ … 20 more lines (Ctrl-O, /open 2)");
    const write = { name: "write_file", input: { path: "a.ts", content: output(40) } };
    expect(toolResultLines({ ...result, call: write, output: "Made a.ts (40 lines)." }, options).at(-1)).toBe(
      "  │ … 16 more lines (Ctrl-O, /open 3)",
    );
    expect(folds.open()?.lines.at(-1)).toBe("40 + line 40");
  });

  it("numbers the lines of a new file, and no lines of a change whose place is unknown", () => {
    const view = { output: "ok", isError: false, durationMs: 1 };
    const options = { style, columns: 60 };
    const made = { name: "write_file", input: { path: "a.ts", content: "one\ntwo\n" } };
    expect(toolResultLines({ ...view, call: made }, options)).toEqual(["● write_file a.ts", "  │ 1 + one", "  │ 2 + two"]);
    const edits = [
      { old_string: "a", new_string: "b" },
      { old_string: "c", new_string: "d" },
    ];
    expect(toolResultLines({ ...view, call: { name: "edit_file", input: { path: "a.ts", edits } } }, options)).toEqual([
      "● edit_file a.ts",
      "  │ - a",
      "  │ + b",
      "  │   ⋮",
      "  │ - c",
      "  │ + d",
    ]);
  });

  it("lists the files that a search and replace changed", () => {
    const call = { name: "search_replace", input: { search: "old", replace: "new" } };
    expect(
      toolResultLines(
        { call, output: "Replaced 3 matches in 2 files:\na.ts: 2\nb.ts: 1", isError: false, durationMs: 1 },
        { style, columns: 60 },
      ),
    ).toEqual(["● search_replace old → new", "  │ Replaced 3 matches in 2 files:", "  │ a.ts: 2", "  │ b.ts: 1"]);
  });
});

describe("callPreview", () => {
  it.each([24, 40, 80])("shows every character of a change within %i columns", (columns) => {
    const content = `const text = "${"中文 and more ".repeat(8)}";\n\tindented("👩‍👩‍👧");`;
    const lines = callPreview({ name: "write_file", input: { path: "a.ts", content } }, { style, columns });
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
    const letters = (text: string): string => text.replace(/\s/g, "");
    expect(letters(lines.map((line) => line.slice("  │ 1 + ".length)).join(""))).toBe(letters(content));
  });

  it("shows a patch with the names of its files", () => {
    const input = "*** Begin Patch\n*** Delete File: old.ts\n*** Add File: b.ts\n+x\n*** End Patch";
    expect(callPreview({ name: "apply_patch", input: { input } }, { style, columns: 60 })).toEqual(
      ["  *** Begin Patch", "  *** Delete File: old.ts", "  *** Add File: b.ts", "+ x", "  *** End Patch"].map((line) => `  │ ${line}`),
    );
  });
});
