import { describe, expect, it, vi } from "vitest";
import { HEARD } from "../keelson-terminal.ts";
import { KEYS, shareTerminal } from "./shared-terminal.ts";
import { USAGE } from "./usage.ts";
import { WIDTHS } from "./widths.ts";

// Every test drives a real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const MARKDOWN = `# A heading

Some *words* and **bold** ones with \`code\` and a [link](https://example.org/a/long/path).

1. one
2. two
   - inner 你好，世界 👨‍👩‍👧‍👦 family

| name | meaning | 数 |
|---|---|---|
| \`sum\` | adds two numbers | 1 |
| 引号 | an explanation that fits into no narrow terminal 👩🏽‍🚒 | 22 |

\`\`\`ts
export function sum(a: number, b: number): number {
  return a + b; // the sum of both
}
\`\`\`

> a quote

- [x] done
- [ ] open
`;

const BEFORE = "export const total = items.map((item) => item.price).reduce((a, b) => a + b, 0);";
const AFTER = "export const total = items.map((item) => item.cost).reduce((a, b) => a + b, 1);";
const FILE = Array.from({ length: 12 }, (_, index) => (index === 7 ? BEFORE : `const line${index} = ${index};`)).join("\n");

describe.each(WIDTHS)("what a person reads at %d columns", (columns) => {
  const shared = shareTerminal({
    ...{ columns, rows: 50, timeByHand: true, args: ["--allow", "bash(seq *)"] },
    script: [
      { text: MARKDOWN, usage: USAGE },
      { text: "Counting.", toolCalls: [{ name: "bash", input: { command: "seq 100" } }], usage: USAGE },
      { text: "Counted.", usage: USAGE },
      { toolCalls: [{ name: "edit_file", input: { path: "src/total.ts", old_string: BEFORE, new_string: AFTER } }], usage: USAGE },
      { toolCalls: [{ name: "write_file", input: { path: "src/new.ts", content: "export const one = 1;\n// 二\n" } }], usage: USAGE },
      { text: "Changed.", usage: USAGE },
    ],
    files: { "src/total.ts": `${FILE}\n` },
  });
  const { see } = shared;

  it("is Markdown with its headings, lists, tables and code, in wide letters and families", async () => {
    expect(await see(`show me${KEYS.enter}`, /open\n[\s\S]*complete[\s\S]*\n› $/, "› show me")).toMatchSnapshot();
  });

  it("is a long output that is folded, and all of it after Ctrl-O", async () => {
    expect(await see(`count${KEYS.enter}`, /Counted\.[\s\S]*complete[\s\S]*\n› $/, "› count")).toMatchSnapshot();
    await see(KEYS.ctrlO, /\n60\n[\s\S]*\n100\n› $/);
    expect(shared.terminal.transcript()).toContain(`\n${Array.from({ length: 100 }, (_, index) => index + 1).join("\n")}\n`);
  });

  it("is the change that a question is about, then the change in its place with numbers of lines", async () => {
    await see(`change it${KEYS.enter}`, /\? `edit_file`/);
    shared.terminal.pause();
    expect(await see("", HEARD, "? `edit_file`")).toMatchSnapshot("question about an edit");
    await see(`y${KEYS.enter}`, /\? `write_file`/);
    shared.terminal.pause();
    expect(await see("", HEARD, "● edit_file")).toMatchSnapshot("result, and question about a file");
    expect(await see(`y${KEYS.enter}`, /Changed\.[\s\S]*complete[\s\S]*\n› $/, "● write_file")).toMatchSnapshot("end");
  });
});
