import { describe, expect, it } from "vitest";
import { foldLines } from "./fold-lines.ts";

const text = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join("\n");

describe("foldLines", () => {
  it("shows the beginning and the end, and counts the lines between", () => {
    expect(foldLines(text(10), { maxLines: 4, tail: 2, columns: 40 })).toEqual(["line 1", "line 2", "… 6 more lines", "line 9", "line 10"]);
  });

  it("keeps all lines under a number and says how to open them", () => {
    const kept: (readonly string[])[] = [];
    const lines = foldLines(text(124), { maxLines: 4, columns: 40, keep: (all) => kept.push(all) });
    expect(lines.at(-1)).toBe("… 120 more lines (Ctrl-O, /open 1)");
    expect(kept[0]).toHaveLength(124);
  });

  it("keeps nothing if everything is shown", () => {
    const keep = (): number => expect.unreachable("nothing is folded");
    expect(foldLines(text(5), { maxLines: 4, columns: 40, keep })).toHaveLength(5);
  });
});
