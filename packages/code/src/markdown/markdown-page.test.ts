import { beforeAll, describe, expect, it } from "vitest";
import { createCodeHighlight } from "./highlight-code.ts";
import { markdownLines } from "./markdown-words.ts";
import { createTheme, type ThemeName } from "./theme.ts";

const PAGE = `# The plan for \`keelson\`
Some **bold** and *italic* text with \`code\`, ~~no~~ and a [link](https://docs.example.com/guide).
This line was broken on purpose. See https://example.com/a/very/long/path/that/does/not/fit/into/forty/columns?x=1 for more.

## 中文、日本語 and 👩‍👩‍👧

这是一个很长的句子，需要换行显示，因为屏幕很窄。 한국어 문장도 있습니다.

1. First, run the tests:
   \`\`\`sh
   npm test -- --reporter=dot   # takes a while, and this line is longer than forty columns
   \`\`\`
2. Then change:
   - the parser
   - [x] the printer, whose text is long enough to be broken in a narrow terminal
   - [ ] the docs

> A quoted **warning** that is long enough to need two rows at forty columns.
>
> - with a list

| Option | Default | Meaning |
|:--|--:|:--|
| \`--width\` | 80 | columns of the screen |
| \`--theme\` | ansi | colours: \`dark\`, \`light\` |

\`\`\`ts
/** Two
 * lines. */
export const wide = (text: string): number => [...text].length; // a comment that goes on and on
\`\`\`

---
The area is $\\pi r^2$.`;

const highlight = createCodeHighlight();
beforeAll(() => Promise.all(["ts", "sh"].map((language) => highlight.load(language))).then(() => {}));

describe("a page of Markdown", () => {
  it.each([40, 80, 120])("is readable without colours at %i columns", (columns) => {
    expect(`\n${markdownLines(PAGE, columns, { theme: createTheme("none"), highlight }).join("\n")}\n`).toMatchSnapshot();
  });

  it.each(["ansi", "dark", "light"] as const satisfies readonly ThemeName[])("has the colours of the theme %s", (name) => {
    const lines = markdownLines(PAGE, 80, { theme: createTheme(name), highlight, hyperlinks: true });
    expect(`\n${lines.join("\n").replaceAll("\u001b", "␛")}\n`).toMatchSnapshot();
  });

  it("has the same text in all themes", () => {
    const text = (name: ThemeName): string[] =>
      // oxlint-disable-next-line no-control-regex -- the colours are removed
      markdownLines(PAGE, 80, { theme: createTheme(name), highlight }).map((line) => line.replace(/\u001b\[[\d;]*m/g, ""));
    expect(text("dark")).toEqual(text("ansi"));
    expect(text("light")).toEqual(text("ansi"));
  });
});
