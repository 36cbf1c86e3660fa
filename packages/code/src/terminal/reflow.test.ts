import { describe, expect, it } from "vitest";
import { type DrawnRows, reflowOf, rowsAboveCursor } from "./reflow.ts";

describe("reflowOf", () => {
  it.each([
    [{ TERM_PROGRAM: "vscode", TERM: "xterm-256color" }, "but-cursor"],
    [{ TERM_PROGRAM: "iTerm.app" }, "all"],
    [{ TERM: "xterm-kitty" }, "all"],
    [{ TERM: "xterm-256color", VTE_VERSION: "7600" }, "all"],
    [{ TERM_PROGRAM: "vscode", TMUX: "/tmp/tmux-0/default,1,0" }, "all"],
    [{ TERM: "screen", TMUX: "/tmp/tmux-0/default,1,0" }, "all"],
    [{ TERM: "screen-256color", STY: "1.pts" }, "none"],
    [{ TERM: "xterm-256color", XTERM_VERSION: "XTerm(390)" }, "none"],
    [{ TERM: "linux" }, "none"],
    [{ TERM: "xterm-256color" }, "unknown"],
    [{}, "unknown"],
  ])("takes %j for a terminal with the reflow %s", (environment, reflow) => {
    expect(reflowOf(environment)).toBe(reflow);
  });
});

describe("rowsAboveCursor", () => {
  const text = "~".repeat(70);
  const drawn: DrawnRows = { lines: [text, "short", text, text], cursor: { row: 2, column: 50 }, columns: 80, rows: 24 };
  const narrow = { columns: 40, rows: 24 };

  it("counts the rows that the terminal adds above the cursor, and in the row of the cursor before it", () => {
    expect(rowsAboveCursor(drawn, narrow, "all")).toBe(4);
    expect(rowsAboveCursor({ ...drawn, cursor: { row: 2, column: 39 } }, narrow, "all")).toBe(3);
  });

  it("counts no rows for a terminal that cuts its rows, or that became wider", () => {
    expect(rowsAboveCursor(drawn, narrow, "none")).toBe(2);
    expect(rowsAboveCursor(drawn, { columns: 120, rows: 24 }, "all")).toBe(2);
  });

  it("counts colours as no columns, and a wide letter that no longer fits in the next row", () => {
    const one = (line: string, columns: number): number =>
      rowsAboveCursor({ lines: [line, ""], cursor: { row: 1, column: 0 }, columns: 80, rows: 24 }, { columns, rows: 24 }, "all");
    expect(one(`\u001b[31m${"a".repeat(40)}\u001b[39m`, 40)).toBe(1);
    expect(one("世".repeat(10), 20)).toBe(1);
    expect(one("世".repeat(10), 19)).toBe(2);
  });

  it("returns the smaller number of rows if the terminal is not known", () => {
    for (const column of [10, 50]) {
      const at = { ...drawn, cursor: { row: 2, column } };
      const either = [rowsAboveCursor(at, narrow, "all"), rowsAboveCursor(at, narrow, "but-cursor")];
      expect(rowsAboveCursor(at, narrow, "unknown")).toBe(Math.min(...either));
    }
  });
});
