import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLiveScreen } from "./live-screen.ts";

/** A terminal that keeps its rows: it knows the few sequences that a live screen writes, and fails on others. */
function createTerminal(columns: number): {
  readonly columns: number;
  write(text: string): void;
  readonly shown: () => string[];
  readonly cursor: () => readonly [number, number];
} {
  const rows: string[] = [""];
  let row = 0;
  let column = 0;
  return {
    columns,
    write(text) {
      // oxlint-disable-next-line no-control-regex -- reading escape sequences is the purpose
      for (const [token] of text.matchAll(/\u001b\[(\??\d*)([A-Za-z])|[\s\S]/gu)) {
        if (token === "\n") {
          row += 1;
          column = 0;
          rows[row] ??= "";
        } else if (token === "\r") column = 0;
        else if (token === "\u001b[J") {
          rows[row] = (rows[row] ?? "").slice(0, column);
          rows.length = row + 1;
        } else if (/^\u001b\[\?(25|7)[hl]$/.test(token)) continue;
        else if (/^\u001b\[\d+A$/.test(token)) row -= Number(token.slice(2, -1));
        else if (/^\u001b\[\d+C$/.test(token)) column += Number(token.slice(2, -1));
        else if (token.startsWith("\u001b")) throw new Error(`unknown sequence ${JSON.stringify(token)}`);
        else {
          const line = (rows[row] ?? "").padEnd(column);
          rows[row] = line.slice(0, column) + token + line.slice(column + token.length);
          column += token.length;
        }
      }
    },
    shown: () => rows,
    cursor: () => [row, column],
  };
}

describe("createLiveScreen", () => {
  it("keeps text, status and input apart while all of them change", () => {
    const terminal = createTerminal(40);
    const screen = createLiveScreen(terminal);
    screen.status("working");
    screen.text("Hello ");
    screen.input({ prompt: "› ", text: "wait", cursor: 2 });
    screen.text("there\nsecond");
    expect(terminal.shown()).toEqual(["Hello there", "second", "working", "› wait"]);
    expect(terminal.cursor()).toEqual([3, 4]);
    screen.block(["", "● bash"]);
    screen.status("still working");
    expect(terminal.shown()).toEqual(["Hello there", "second", "", "● bash", "still working", "› wait"]);
    screen.close();
    expect(terminal.shown()).toEqual(["Hello there", "second", "", "● bash", ""]);
  });

  it("never leaves two empty lines in a row", () => {
    const terminal = createTerminal(40);
    const screen = createLiveScreen(terminal);
    screen.block([""]);
    screen.block(["", "a", ""]);
    screen.block(["", "b"]);
    screen.close();
    expect(terminal.shown()).toEqual(["a", "", "b", ""]);
  });

  it("shows the end of the same text, however it was cut into chunks", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[ab \n]{0,12}$/), { maxLength: 12 }), (chunks) => {
        const show = (parts: readonly string[]): string[] => {
          const terminal = createTerminal(26);
          const screen = createLiveScreen(terminal);
          screen.status("s");
          for (const part of parts) screen.text(part);
          screen.close();
          return terminal
            .shown()
            .filter((row) => row.trim() !== "")
            .map((row) => row.trimEnd());
        };
        expect(show(chunks).join("").replaceAll(" ", "")).toBe(chunks.join("").replaceAll(/[ \n]/g, ""));
      }),
    );
  });

  it("shows the part of a long input that is being typed", () => {
    const terminal = createTerminal(31);
    const screen = createLiveScreen(terminal);
    const text = "abcdefghijklmnopqrstuvwxyz0123456789";
    screen.input({ prompt: "> ", text, cursor: text.length });
    expect(terminal.shown()[0]).toMatch(/^> .*789$/);
    expect(terminal.cursor()[1]).toBeLessThan(31);
  });
});
