import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { chunked, markdownNoise, markdownText } from "../../test/markdown-arbitrary.ts";
import { displayWidth } from "../text/display-width.ts";
import { createCodeHighlight, createPlainHighlight } from "./highlight-code.ts";
import { lexMarkdown } from "./lex-markdown.ts";
import { createMarkdownWords, markdownLines, type MarkdownOptions } from "./markdown-words.ts";
import { paintRows } from "./paint-rows.ts";
import { renderBlocks } from "./render-blocks.ts";
import { createTheme } from "./theme.ts";

const highlight = createCodeHighlight();
const PLAIN: MarkdownOptions = { theme: createTheme("none"), highlight };
const COLOURED: MarkdownOptions = { theme: createTheme("ansi"), highlight, hyperlinks: true };
const cuts = fc.array(fc.nat(), { maxLength: 20 });
const width = fc.constantFrom(40, 80, 120);

beforeAll(async () => {
  await Promise.all(["ts", "sh"].map((language) => highlight.load(language)));
});

/** Streams a text in chunks, drawing the open part after each. */
function streamed(chunks: readonly string[], columns: number, options: MarkdownOptions): string[] {
  const words = createMarkdownWords(options);
  const lines = chunks.flatMap((chunk) => {
    const finished = words.push(chunk, columns);
    words.rows({ columns, rows: 10 });
    return finished;
  });
  return [...lines, ...words.end(columns)];
}

describe("createMarkdownWords", () => {
  it("finishes the same lines however the text is cut into deltas", () => {
    fc.assert(
      fc.property(fc.oneof(markdownText, markdownNoise), cuts, width, (text, places, columns) => {
        expect(streamed(chunked(text, places), columns, COLOURED)).toEqual(markdownLines(text, columns, COLOURED));
      }),
    );
  });

  it("renders pieces as the whole text is rendered at once", () => {
    fc.assert(
      fc.property(markdownText, width, (text, columns) => {
        const options = { columns, marks: true, hyperlinks: false, highlight };
        const whole = paintRows(renderBlocks(lexMarkdown(text), options), PLAIN.theme);
        const withoutBlanks = (lines: readonly string[]): string[] => lines.filter((line) => line !== "");
        expect(withoutBlanks(markdownLines(text, columns, PLAIN))).toEqual(withoutBlanks(whole));
      }),
    );
  });

  it("loses no word and changes no order", () => {
    fc.assert(
      fc.property(markdownText, width, (text, columns) => {
        const letters = (shown: string): string[] => shown.match(/\p{L}/gu) ?? [];
        const expected = letters(text);
        let found = 0;
        for (const letter of letters(markdownLines(text, columns, PLAIN).join("\n"))) if (letter === expected[found]) found += 1;
        expect(found).toBe(expected.length);
      }),
    );
  });

  it("lets no control character of the model through", () => {
    fc.assert(
      fc.property(markdownNoise, cuts, (text, places) => {
        const words = createMarkdownWords(PLAIN);
        const shown = chunked(text, places).flatMap((chunk) => [...words.push(chunk, 60), ...words.rows({ columns: 60, rows: 50 }).lines]);
        // oxlint-disable-next-line no-control-regex -- looking for exactly these
        expect([...shown, ...words.end(60)].join("")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
      }),
    );
  });

  it("draws what is open within the width and the rows, its end if it is longer", () => {
    fc.assert(
      fc.property(fc.oneof(markdownText, markdownNoise), fc.integer({ min: 10, max: 80 }), (text, columns) => {
        const words = createMarkdownWords(PLAIN);
        words.push(text, columns);
        const all = words.rows({ columns, rows: 1_000 }).lines;
        for (const line of all) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
        expect(words.rows({ columns, rows: 3 }).lines).toEqual(all.slice(-3));
      }),
    );
  });

  it("breaks the open part anew when the width changes", () => {
    const words = createMarkdownWords(PLAIN);
    words.push("one two three four", 80);
    expect(words.rows({ columns: 80, rows: 9 }).lines).toEqual(["one two three four"]);
    expect(words.rows({ columns: 10, rows: 9 }).lines).toEqual(["one two", "three four"]);
  });

  it("draws emphasis before its end has arrived", () => {
    const words = createMarkdownWords(COLOURED);
    words.push("a **bold wo", 80);
    expect(words.rows({ columns: 80, rows: 9 }).lines).toEqual(["a \u001b[1mbold wo\u001b[0m"]);
    expect(words.end(80)).toEqual(["a **bold wo"]);
  });

  it("draws what each delta added", () => {
    const words = createMarkdownWords(PLAIN);
    const drawn = ["one", " two", "\n", "three"].map((delta) => {
      words.push(delta, 80);
      return words.rows({ columns: 80, rows: 9 }).lines;
    });
    expect(drawn).toEqual([["one"], ["one two"], ["one two"], ["one two", "three"]]);
  });

  it("shows a block that was cut for its length without a gap, and a table under its heading again", () => {
    const text = Array.from({ length: 900 }, (_, index) => `line ${index}`).join("\n");
    expect(markdownLines(text, 80, PLAIN)).toEqual(text.split("\n"));
    const table = markdownLines(["|a|", "|-|", ...Array.from({ length: 150 }, () => "|x|")].join("\n"), 80, PLAIN);
    expect(table.filter((line) => line.includes("a"))).toHaveLength(2);
    expect([table.filter((line) => line.includes("x")).length, table.includes("")]).toEqual([150, false]);
  });

  it("keeps the open part of a long fence at one line", () => {
    const words = createMarkdownWords(PLAIN);
    let finished = 0;
    for (let index = 0; index < 1_000; index += 1) finished += words.push(index === 0 ? "```ts\n" : `line(${index});\n`, 80).length;
    words.push("half", 80);
    expect(finished).toBe(1_000);
    expect(words.rows({ columns: 80, rows: 20 }).lines).toEqual(["half"]);
  });

  it("drops what is open and begins again", () => {
    const words = createMarkdownWords(PLAIN);
    words.push("- void\n- too", 80);
    words.drop();
    expect(words.rows({ columns: 80, rows: 9 }).lines).toEqual([]);
    expect([...words.push("# Again\n", 80), ...words.end(80)]).toEqual(["# Again"]);
  });

  it("joins a character whose halves come in two deltas, and shows no half", () => {
    const words = createMarkdownWords(PLAIN);
    words.push("a\ud83d", 80);
    expect(words.rows({ columns: 80, rows: 9 }).lines).toEqual(["a"]);
    words.push("\ude00b", 80);
    expect(words.end(80)).toEqual(["a😀b"]);
  });

  it("leaves addresses and lines of code whole, for the terminal to wrap", () => {
    const address = `https://example.com/${"a".repeat(60)}`;
    expect(markdownLines(`See ${address} there`, 40, PLAIN)).toEqual(["See", address, "there"]);
    const code = `run --with "${"many words ".repeat(10)}"`;
    expect(markdownLines(`\`\`\`sh\n${code}\n\`\`\``, 40, PLAIN)).toEqual(["```sh", code, "```"]);
  });

  it("reads each line once: the work grows with the text", () => {
    let painted = 0;
    const counting = {
      ...createPlainHighlight(),
      painter: () => ({ paint: (line: string) => ((painted += 1), [{ text: line, look: {} }]), peek: () => [] }),
    };
    const words = createMarkdownWords({ theme: createTheme("none"), highlight: counting });
    for (let index = 0; index < 500; index += 1) words.push(index === 0 ? "```\n" : "x\n", 80);
    words.end(80);
    expect(painted).toBe(499);
  });
});
