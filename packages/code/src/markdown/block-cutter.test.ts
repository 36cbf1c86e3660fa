import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBlockCutter, type Piece } from "./block-cutter.ts";
import { markdownText } from "../../test/markdown-arbitrary.ts";

function piecesOf(text: string): Piece[] {
  const cutter = createBlockCutter();
  return [...text.split("\n").flatMap((line) => cutter.take(line)), ...cutter.end()];
}

/** The lines of a text that are finished before its end. */
function finishedOf(text: string): readonly string[] {
  const cutter = createBlockCutter();
  return text.split("\n").flatMap((line) => cutter.take(line).map(shown));
}

function shown(piece: Piece): string {
  switch (piece.kind) {
    case "code":
      return piece.line;
    case "fence":
      return piece.mark + piece.info;
    case "fence-end":
      return piece.mark;
    default:
      return piece.text;
  }
}

describe("createBlockCutter", () => {
  it("finishes a paragraph at an empty line and a heading at its own line", () => {
    expect(finishedOf("one\ntwo\n\nthree")).toEqual(["one\ntwo"]);
    expect(finishedOf("# One")).toEqual(["# One"]);
    expect(finishedOf("One\n===")).toEqual(["One\n==="]);
  });

  it("finishes each item of a list when the next one begins", () => {
    expect(finishedOf("1. a\n   more\n\n   - n\n2. b\n3. c")).toEqual(["1. a\n   more\n\n   - n", "2. b"]);
    expect(piecesOf("1. a\n1. b\n\n1. c\n- d")).toEqual([
      { kind: "item", text: "1. a", isApart: false, number: 1 },
      { kind: "item", text: "1. b", isApart: false, number: 2 },
      { kind: "item", text: "1. c", isApart: true, number: 3 },
      { kind: "item", text: "- d", isApart: false },
    ]);
  });

  it("finishes lines of fenced code one by one, also those that look like other blocks", () => {
    expect(finishedOf("```ts\n- a\n\n# b")).toEqual(["```ts", "- a", "", "# b"]);
    expect(piecesOf("~~~\n```\n~~~~\nx").map(({ kind }) => kind)).toEqual(["fence", "code", "fence-end", "blocks"]);
  });

  it("keeps fenced code within an item of a list", () => {
    expect(piecesOf("- a\n  ```\n\n  # no heading\n  ```\n- b").map(shown)).toEqual(["- a\n  ```\n\n  # no heading\n  ```", "- b"]);
  });

  it("ends a list at an unindented fence and counts on from the number that follows", () => {
    expect(piecesOf("1. a\n```\nx\n```\n2. b")).toEqual([
      { kind: "item", text: "1. a", isApart: false, number: 1 },
      { kind: "fence", mark: "```", info: "", isApart: false },
      { kind: "code", line: "x" },
      { kind: "fence-end", mark: "```" },
      { kind: "item", text: "2. b", isApart: false, number: 2 },
    ]);
  });

  it("begins no list within a paragraph at a number that ends a sentence", () => {
    expect(piecesOf("It was in\n1984. A year")).toHaveLength(1);
    expect(piecesOf("Steps:\n- a")).toHaveLength(2);
  });

  it("ends a list at text after an empty line that is not indented", () => {
    expect(piecesOf("- a\n\n  of a\n\nb").map(({ kind }) => kind)).toEqual(["item", "blocks"]);
    expect(piecesOf("- a\nof a").map(({ kind }) => kind)).toEqual(["item"]);
  });

  it("leaves HTML and mathematics whole until their end", () => {
    expect(piecesOf("<!-- a\n\n- b -->\n\nc").map(shown)).toEqual(["<!-- a\n\n- b -->", "c"]);
    expect(piecesOf("$$\n- b\n$$").map(shown)).toEqual(["$$\n- b\n$$"]);
  });

  it("bounds what is open: a table goes on under its heading, an item and a paragraph where they were cut", () => {
    const table = piecesOf(["|a|b|", "|-|-|", ...Array.from({ length: 250 }, (_, index) => `|${index}|x|`)].join("\n"));
    expect(table.map((piece) => shown(piece).split("\n").length)).toEqual([100, 100, 56]);
    expect(table.every((piece) => shown(piece).startsWith("|a|b|\n|-|-|\n"))).toBe(true);
    const text = piecesOf(Array.from({ length: 1_000 }, (_, index) => `line ${index}`).join("\n"));
    expect(text.map((piece) => piece.kind === "blocks" && piece.continues)).toEqual([false, true, true]);
    const item = piecesOf(["- a", "  ```js", ...Array.from({ length: 600 }, (_, index) => `  ${index}`), "  ```", "- b"].join("\n"));
    expect(item.map(({ kind }) => kind)).toEqual(["item", "item", "item"]);
    expect(shown(item[1] as Piece)).toMatch(/^```js\n398\n[\s\S]*\n599\n```$/);
  });

  it("peeks at the end of a text without changing it", () => {
    fc.assert(
      fc.property(markdownText, (text) => {
        const cutter = createBlockCutter();
        const lines = text.split("\n");
        const pieces = lines.flatMap((line) => {
          cutter.peek("- x");
          cutter.peek("```");
          return cutter.take(line);
        });
        const rest = cutter.peek("");
        expect(rest).toEqual(cutter.end());
        expect([...pieces, ...rest]).toEqual(piecesOf(text));
      }),
    );
  });
});
