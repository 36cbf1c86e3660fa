import { expect, it, vi } from "vitest";
import { openWorkspace } from "../keelson-process.ts";
import { openTerminal } from "../keelson-terminal.ts";

// A real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 300_000 });

const LINE = `${"words of a response ".repeat(50)}\n\n`;

it("every key of a long line of wide letters arrives while a response of 10 MB streams", async () => {
  await using workspace = await openWorkspace([
    { text: [LINE, "End."], misbehave: { hugeTextBytes: 11_000_000 }, usage: { inputTokens: 10, outputTokens: 10 } },
    { text: "Read." },
  ]);
  await using terminal = openTerminal(workspace, []);
  await terminal.until(/\n› $/);
  terminal.type("tell me\r");
  await terminal.until(/words of a response/);
  const typed = Array.from({ length: 100 }, (_, index) => `${index} 漢字 é 👨‍👩‍👧‍👦`).join(" ");
  for (const letter of typed) terminal.type(letter);
  expect(terminal.transcript()).not.toContain("complete");
  await terminal.until(/End\.[\s\S]*complete/);
  expect(terminal.written().length).toBeGreaterThan(10_000_000);
  terminal.type("\r");
  await terminal.until(/Read\./);
  expect(JSON.stringify(workspace.server.requests.at(-1)?.body["messages"])).toContain(typed);
});
