import { describe, expect, it, vi } from "vitest";
import { type Workspace, openWorkspace } from "./keelson-process.ts";
import { HEARD, openTerminal } from "./keelson-terminal.ts";

// Every test drives a real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const WIDTHS = [40, 80, 120] as const;

/** The screen without what differs from run to run: the folder, ids, times, and the frame of the spinner. */
function stable(workspace: Workspace, rows: readonly string[]): string {
  return rows
    .map((row) =>
      row
        .replaceAll(workspace.project, "/project")
        .replaceAll(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "*")
        .replaceAll(/\b(\d+ m )?\d+(\.\d)? m?s\b/g, "0 s")
        .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, "<id>"),
    )
    .join("\n");
}

const RESPONSE =
  "First I look at the tests: they live in test/. 这是一个很长的句子用来测试宽字符在终端里的换行是否正确。\n\n- one\n- two, which is long enough to be broken somewhere, whatever the width\n";

describe.each(WIDTHS)("a conversation at %d columns", (columns) => {
  it("looks as it should, from the question to its end", async () => {
    await using workspace = await openWorkspace(
      [
        {
          text: RESPONSE,
          toolCalls: [
            { name: "edit_file", input: { path: "src/sum.js", old_string: "a - b", new_string: "a + b /* the sum, at last, of both */" } },
          ],
          usage: { inputTokens: 1_000, outputTokens: 50 },
        },
        { text: "Mended.", usage: { inputTokens: 1_200, outputTokens: 10 } },
      ],
      { "src/sum.js": "export const sum = (a, b) => a - b;\n" },
    );
    await using terminal = openTerminal(workspace, [], { columns, timeByHand: true });
    await terminal.until(/\n› $/);
    terminal.type("the sum is wrong, please find out why and mend it\r");
    await terminal.until(/\? `edit_file`/);
    terminal.pause();
    await terminal.until(HEARD);
    terminal.type("not yet");
    await terminal.until(/not yet$/);
    const asking = stable(workspace, terminal.all());
    for (const row of terminal.rows()) expect(row.length).toBeLessThanOrEqual(columns);
    expect(asking.slice(asking.indexOf("› the sum"))).toMatchSnapshot("asking");
    terminal.type("\u0015n\r");
    await terminal.until(/Mended\.[\s\S]*✔ complete[\s\S]*\n› $/);
    const done = stable(workspace, terminal.all());
    expect(done.slice(done.indexOf("? `edit_file`"))).toMatchSnapshot("done");
    terminal.type("/help\r");
    await terminal.until(/\nCtrl-_ *\n?.*undo\n› $/);
    const help = stable(workspace, terminal.transcript().split("\n"));
    expect(help.slice(help.indexOf("› /help"))).toMatchSnapshot("help");
    terminal.type("/quit\r");
    expect(await terminal.exited).toBe(0);
  });
});

describe("a terminal that changes its width", () => {
  it("while a response streams keeps one status, one line of input, and every word of the response", async () => {
    const sentence = "The quick brown fox jumps over the lazy dog and runs. ".repeat(6).trim();
    await using workspace = await openWorkspace([{ text: `${sentence}\nThat is`, misbehave: { stall: "in-body" } }]);
    // No frame of the status comes in between, which would be drawn for the old width into the new one.
    await using terminal = openTerminal(workspace, [], { columns: 120, rows: 60, timeByHand: true });
    await terminal.until(/\n› $/);
    terminal.type("tell me a story\r");
    // Half of what the server streams is the half of the answer; then nothing more comes.
    await terminal.until(/^The quick(?:[\s\S]*?runs\.){3}/m);
    terminal.type("a draft that is being typed");
    await terminal.until(/a draft that is being typed$/);
    /** What was told so far, as the screen shows it, without the spaces that breaking it into rows moves. */
    const told = (): string => {
      const rows = terminal.rows();
      return rows
        .slice(rows.indexOf("› tell me a story") + 1, -2)
        .join("")
        .replaceAll(/\s/g, "");
    };
    const before = told();
    expect(sentence.replaceAll(/\s/g, "").startsWith(before)).toBe(true);
    // The status line shows for which width it was drawn.
    const [narrow, middle, wide] = [
      "default · claude-sonnet-5 · \\$0",
      "default · claude-sonnet-5 · \\$0 · no sandbox",
      "default · anthropic/claude-sonnet-5 · \\$0 · no sandbox",
    ];
    for (const [columns, status] of [
      [40, narrow],
      [80, wide],
      [50, middle],
      [100, wide],
      [40, narrow],
    ] as const) {
      await terminal.resize(columns);
      await terminal.untilAll(new RegExp(`\\n\\S (?:thinking|writing).*\\n› a draft that is being typed\\n${status}$`));
      expect(told()).toBe(before);
    }
    terminal.type("\u001b");
    await terminal.until(/✗ stopped[\s\S]*› a draft that is being typed$/);
    terminal.type("\u0015/quit\r");
    expect(await terminal.exited).toBe(0);
  });
});
