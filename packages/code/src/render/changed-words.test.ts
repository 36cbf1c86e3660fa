import { describe, expect, it } from "vitest";
import { textOf } from "../markdown/span.ts";
import { markChangedWords } from "./changed-words.ts";
import type { DiffRow } from "./diff-rows.ts";

const rows = (...lines: readonly string[]): DiffRow[] =>
  lines.map((line) => ({ sign: line.charAt(0) as DiffRow["sign"], text: line.slice(1) }));
/** The words that are marked in each line. */
const words = (...lines: readonly string[]): (string | undefined)[] =>
  markChangedWords(rows(...lines)).map(({ marked }) =>
    marked
      ?.filter(({ look }) => look.role?.endsWith("-word"))
      .map(({ text }) => text)
      .join("|"),
  );

describe("markChangedWords", () => {
  it("compares removed and added lines one by one", () => {
    expect(words("-let a = one;", "-let b = two;", "+let a = 1;", "+let b = 2;")).toEqual(["one", "two", "1", "2"]);
  });

  it("keeps the whole text of each line", () => {
    const marked = markChangedWords(rows("-  if (a && b) {", "+  if (a || b) {"));
    expect(marked.map((row) => textOf(row.marked ?? []))).toEqual(["  if (a && b) {", "  if (a || b) {"]);
  });

  it("marks nothing in unlike, long or single lines", () => {
    expect(words("-alpha beta gamma", "+nothing in common here")).toEqual([undefined, undefined]);
    expect(words(`-${"word ".repeat(200)}`, `+${"word ".repeat(200)}x`)).toEqual([undefined, undefined]);
    expect(words("-alone", " same", "+other")).toEqual([undefined, undefined, undefined]);
  });
});
