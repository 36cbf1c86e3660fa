import type { Message } from "@keelson/protocol";
import { expect, it } from "vitest";
import { createPlainHighlight } from "../markdown/highlight-code.ts";
import { markdownLines } from "../markdown/markdown-words.ts";
import type { Reading } from "../markdown/reading.ts";
import { createTheme } from "../markdown/theme.ts";
import { transcriptLines } from "./session-lines.ts";
import { createStyle } from "../text/style.ts";

it("marks calls that failed", () => {
  const messages = [
    {
      role: "assistant",
      content: [
        { type: "tool-call", id: "c1", name: "bash", input: { command: "npm test" } },
        { type: "tool-call", id: "c2", name: "bash", input: { command: "ls" } },
      ],
    },
    {
      role: "tool",
      content: [
        { type: "tool-result", id: "c1", output: "1 failed", isError: true },
        { type: "tool-result", id: "c2", output: "a.txt" },
      ],
    },
  ] as unknown as readonly Message[];
  const lines = transcriptLines(messages, { style: createStyle(false), columns: 80 });
  expect(lines.filter((line) => line.includes("bash"))).toEqual([
    expect.stringMatching(/^✗ bash .*npm test.* \(failed\)$/),
    expect.stringMatching(/^● bash .*ls/),
  ]);
});

it("renders the Markdown of the agent for a reader, and leaves it as it was written for a pipe", () => {
  const messages: readonly Message[] = [
    { role: "user", content: [{ type: "text", text: "# mine" }] },
    { role: "assistant", content: [{ type: "text", text: "# Yours\n| a |\n|---|\n| 1 |" }] },
  ];
  const options = { theme: createTheme("none"), highlight: createPlainHighlight() };
  const reading: Reading = {
    ...options,
    load: async () => {},
    words: () => expect.unreachable("nothing streams"),
    lines: (text, columns) => markdownLines(text, columns, options),
  };
  const style = createStyle(false);
  expect(transcriptLines(messages, { style, columns: 40, reading })).toEqual([
    "",
    "› # mine",
    "",
    "# Yours",
    "",
    "┌───┐",
    "│ a │",
    "├───┤",
    "│ 1 │",
    "└───┘",
    "",
  ]);
  expect(transcriptLines(messages, { style, columns: 40 })).toEqual(["", "› # mine", "", "# Yours", "| a |", "|---|", "| 1 |", ""]);
});

it("shows no message that the program wrote to the model, such as the one about plan mode", () => {
  const text = (role: Message["role"], words: string): Message => ({ role, content: [{ type: "text", text: words }] });
  const messages = [text("user", "plan it"), text("system", "Plan mode is on."), text("assistant", "I read.")];
  expect(transcriptLines(messages, { style: createStyle(false), columns: 80 }).filter((line) => line !== "")).toEqual([
    "› plan it",
    "I read.",
  ]);
});
