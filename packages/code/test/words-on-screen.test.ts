import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createCodeHighlight } from "../src/markdown/highlight-code.ts";
import { createMarkdownWords, markdownLines, type MarkdownOptions } from "../src/markdown/markdown-words.ts";
import { createTheme } from "../src/markdown/theme.ts";
import { createWordsView } from "../src/render/words-view.ts";
import { createLiveScreen } from "../src/terminal/live-screen.ts";
import { chunked, markdownText } from "./markdown-arbitrary.ts";
import { createXtermDevice, XTERM_ENVIRONMENT } from "./xterm-device.ts";

const options: MarkdownOptions = { theme: createTheme("ansi"), highlight: createCodeHighlight(), hyperlinks: true };

/** Returns the lines of a terminal after a text has streamed into it. Rows that the terminal wrapped are joined again. */
async function linesOnScreen(chunks: readonly string[], columns: number): Promise<readonly string[]> {
  const device = createXtermDevice({ columns, rows: 20 });
  const screen = createLiveScreen(device, { environment: XTERM_ENVIRONMENT });
  const view = createWordsView(screen, createMarkdownWords(options));
  screen.status("working");
  for (const chunk of chunks) {
    view.show(chunk);
    screen.flush();
  }
  view.end();
  screen.close();
  const lines = await device.transcript();
  device.dispose();
  return trimmed(lines);
}

function trimmed(lines: readonly string[]): readonly string[] {
  return lines
    .map((line) => line.trimEnd())
    .join("\n")
    .trimEnd()
    .split("\n");
}

it("leaves the same lines in a terminal at any width, however a Markdown text is cut, and copies long ones as they were", async () => {
  // The terminal of the tests knows the widths of Unicode 6 only.
  const text = markdownText.filter((markdown) => !/[\u{1f1e6}-\u{1f1ff}\u200d]/u.test(markdown));
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.nat(), { maxLength: 12 }), fc.constantFrom(40, 80, 120), async (markdown, cuts, columns) => {
      const expected = trimmed(markdownLines(markdown, columns - 1, options).map(stripVTControlCharacters));
      expect(await linesOnScreen(chunked(markdown, cuts), columns)).toEqual(expected);
    }),
    { numRuns: 40 },
  );
});
