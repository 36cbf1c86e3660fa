import { describe, expect, it } from "vitest";
import { notebookText } from "./notebook-text.ts";

const notebook = (cells: readonly unknown[]): string => JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 });

describe("a notebook as text", () => {
  it("shows its cells in order, with source, outputs and errors", () => {
    const text = notebook([
      { cell_type: "markdown", source: ["# Title\n", "Words"] },
      {
        cell_type: "code",
        execution_count: 3,
        source: "print(1)\n1 + 1",
        outputs: [
          { output_type: "stream", name: "stdout", text: ["1\n"] },
          { output_type: "stream", name: "stderr", text: "careful\n" },
          { output_type: "execute_result", data: { "text/plain": ["2"] } },
        ],
      },
      {
        cell_type: "code",
        source: [],
        outputs: [{ output_type: "error", ename: "ValueError", evalue: "no", traceback: ["\u001b[31mValueError\u001b[0m: no"] }],
      },
    ]);
    expect(notebookText(text)?.lines).toEqual([
      "[Cell 1: markdown]",
      "# Title",
      "Words",
      "[Cell 2: code, run 3]",
      "print(1)",
      "1 + 1",
      "[Output:]",
      "1",
      "[Standard error:]",
      "careful",
      "[Output:]",
      "2",
      "[Cell 3: code]",
      "[Error:]",
      "ValueError: no",
    ]);
    expect(notebookText(text)?.blocks.map(({ start, end, title }) => [start, end, title])).toEqual([
      [1, 3, "cell 1, markdown: # Title"],
      [4, 12, "cell 2, code: print(1)"],
      [13, 15, "cell 3, code: empty"],
    ]);
  });

  it("shortens long outputs, keeps images with their line, and names outputs that are not shown", () => {
    const output = Array.from({ length: 100 }, (_, at) => `row ${at}\n`).join("");
    const found = notebookText(
      notebook([
        {
          cell_type: "code",
          source: "plot()",
          outputs: [
            { output_type: "stream", name: "stdout", text: output },
            { output_type: "display_data", data: { "image/png": "aGVs\nbG8=", "text/plain": "<Figure>" } },
            { output_type: "display_data", data: { "application/vnd.plotly.v1+json": {} } },
          ],
        },
      ]),
    );
    expect(found?.lines).toContain("[… 80 lines of output are left out …]");
    expect(found?.lines).toContain("row 99");
    expect(found?.lines).not.toContain("row 50");
    expect(found?.images).toEqual([
      { line: (found?.lines.indexOf("[Image: image/png]") ?? 0) + 1, mediaType: "image/png", data: "aGVsbG8=" },
    ]);
    expect(found?.lines.at(-1)).toBe("[Output that is not shown: application/vnd.plotly.v1+json]");
  });

  it("is not made of a file that is no notebook", () => {
    for (const text of ["", "{", "[]", "null", '{"cells": 1}', '{"cells": [1]}']) expect(notebookText(text)).toBeUndefined();
  });
});
