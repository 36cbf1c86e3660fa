import { describe, expect, it, vi } from "vitest";
import { type Workspace, openWorkspace } from "./keelson-process.ts";
import { openTerminal } from "./keelson-terminal.ts";

// Every test drives a real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

/** The text of the last message of the last request. */
function lastMessage(workspace: Workspace): string {
  const { messages } = workspace.server.requests.at(-1)?.body as { readonly messages: readonly { readonly content: unknown }[] };
  const content = messages.at(-1)?.content as readonly { readonly text?: string }[];
  return content.map(({ text = "" }) => text).join("");
}

describe("what a person types in a terminal", () => {
  it("arrives whole and in order under 10 MB of output", async () => {
    await using workspace = await openWorkspace([{ text: "Read." }]);
    await using terminal = openTerminal(workspace, []);
    await terminal.until(/› $/m);
    terminal.type("!head -c 10000000 /dev/zero | tr '\\0' x | fold -w 1000; echo; echo finished\r");
    await terminal.until(/x{40}/);
    const words = Array.from({ length: 200 }, (_, index) => `word-${index}-漢字 `);
    for (const word of words) terminal.type(word);
    await terminal.until(/finished\n {2}done; the agent reads it/);
    terminal.type("end\r");
    await terminal.until(/Read\./);
    expect(lastMessage(workspace)).toMatch(/^I ran this command in the project myself: head -c 10000000/);
    expect(lastMessage(workspace).endsWith(`\n\n${words.join("")}end`)).toBe(true);
    terminal.type("/quit\r");
    expect(await terminal.exited).toBe(0);
  });

  it("has several lines and a folded paste, which the agent reads as they were pasted", async () => {
    await using workspace = await openWorkspace([{ text: "Read." }]);
    await using terminal = openTerminal(workspace, []);
    await terminal.until(/› $/m);
    const pasted = Array.from({ length: 300 }, (_, index) => `\tline ${index}`).join("\n");
    terminal.type("first\nsecond\\\rthird ");
    const sent = `\u001b[200~${pasted.replaceAll("\n", "\r")}\u001b[201~`;
    for (let start = 0; start < sent.length; start += 100) terminal.type(sent.slice(start, start + 100));
    await terminal.until(/third \[paste #1 \+300 lines\]/);
    terminal.type("!\r");
    await terminal.until(/Read\./);
    expect(lastMessage(workspace)).toBe(`first\nsecond\nthird ${pasted}!`);
    terminal.type("/quit\r");
    expect(await terminal.exited).toBe(0);
  });

  it("can be edited in another program", async () => {
    await using workspace = await openWorkspace([{ text: "Read." }]);
    await using terminal = openTerminal(workspace, [], { env: { VISUAL: "", EDITOR: 'sh -c \'printf " edited" >> "$0"\'' } });
    await terminal.until(/› $/m);
    terminal.type("draft\u0007");
    await terminal.until(/› draft edited/);
    terminal.type(" more\r");
    await terminal.until(/Read\./);
    expect(lastMessage(workspace)).toBe("draft edited more");
    terminal.type("/quit\r");
    expect(await terminal.exited).toBe(0);
  });
});
