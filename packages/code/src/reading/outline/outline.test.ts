import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Block } from "./block.ts";
import { outlinerOf } from "./outliner-of.ts";

/** Fails if the blocks leave a gap, overlap or do not fill the range; and likewise for the blocks inside of them. */
function requireCover(blocks: readonly Block[], start: number, end: number, depth = 0): void {
  if (blocks.length === 0 || depth > 50) return;
  let next = start;
  for (const block of blocks) {
    expect([block.start, block.end >= block.start]).toEqual([next, true]);
    requireCover(block.children(), block.start, block.end, depth + 1);
    next = block.end + 1;
  }
  expect(next - 1).toBe(end);
}

const outline = (path: string, text: string): string[] =>
  outlinerOf(path)(text.split("\n")).map(({ start, end, title }) => `${start}-${end} ${title}`);

const line = fc.oneof(
  fc.constantFrom(
    "",
    "}",
    "  ",
    "{",
    "# h",
    "## h2",
    "// c",
    "import a",
    "function f() {",
    "  x",
    "    y",
    "\tz",
    "[s]",
    "```",
    "---",
    "===",
    "text",
    "- a",
    ")",
    "@d",
    "else:",
    '"""',
  ),
  fc.string().map((text) => text.replaceAll("\n", " ")),
);

describe("outlines", () => {
  it.each(["a.ts", "a.md", "a.json", "a.yaml", "a.toml", "a.diff", "noname"])(
    "of %s cover all lines without a gap, and do not overlap",
    (path) => {
      fc.assert(
        fc.property(fc.array(line, { minLength: 1, maxLength: 40 }), (lines) => requireCover(outlinerOf(path)(lines), 1, lines.length)),
        { numRuns: 200 },
      );
    },
  );

  it("take the comments above a block, and join imports and single lines", () => {
    const code = [
      'import a from "a";',
      'import b from "b";',
      "",
      "const X = 1;",
      "const Y = 2;",
      "",
      "/** Says hello. */",
      "export function hello() {",
      "  return 1;",
      "}",
      "",
      "class A {",
      "  b() {}",
      "}",
    ];
    expect(outline("a.ts", code.join("\n"))).toEqual([
      '1-3 import a from "a"; … (2 imports)',
      "4-6 const X = 1; … (2 single lines)",
      "7-11 export function hello()",
      "12-14 class A",
    ]);
  });

  it("divide Python at its definitions, with decorators and without else branches of their own", () => {
    const code = ["import os", "", "@cache", "def f(x):", "    return x", "", "if a:", "    b()", "else:", "    c()"];
    expect(outline("a.py", code.join("\n"))).toEqual(["1-2 import os", "3-6 def f(x):", "7-10 if a:"]);
  });

  it("divide Markdown at headings, outside of code fences", () => {
    const text = ["intro", "# One", "a", "```sh", "# no heading", "```", "## Inner", "b", "# Two", "c"];
    expect(outline("a.md", text.join("\n"))).toEqual(["1-1 intro", "2-8 # One", "9-10 # Two"]);
    const [, one] = outlinerOf("a.md")(text);
    expect(one?.children().map(({ start, end }) => [start, end])).toEqual([
      [2, 6],
      [7, 8],
    ]);
  });

  it("of lines that are as long as their file cost no more than the file is long", () => {
    const long = `f${" ".repeat(2_000_000)}x`;
    const started = process.cpuUsage();
    for (const path of ["a.ts", "a.md", "a.json", "a.toml", "a.diff"])
      for (const text of [long, `[${long}`, `# ${long}`, `@${long}`, "(".repeat(2_000_000)])
        outlinerOf(path)(["a", text, " b", text, "c"]).map((block) => block.children());
    // Quadratic work would take minutes.
    expect(process.cpuUsage(started).user).toBeLessThan(20_000_000);
  });

  it("divide JSON and YAML at their keys, and INI at its sections", () => {
    const json = ["{", '  "name": "x",', '  "scripts": {', '    "test": "vitest"', "  },", '  "deps": {', '    "a": "1"', "  }", "}"];
    const [root] = outlinerOf("a.json")(json);
    expect(root?.children().map(({ title }) => title)).toEqual(["{", '"name": "x",', '"scripts":', '"deps":']);
    expect(outline("a.yaml", "on: push\njobs:\n  test:\n    steps: []\nenv:\n  A: 1")).toEqual(["1-1 on: push", "2-4 jobs:", "5-6 env:"]);
    expect(outline("a.toml", "a = 1\n[one]\nb = 2\n[two]\nc = 3")).toEqual(["1-1 a = 1", "2-3 [one]", "4-5 [two]"]);
  });
});
