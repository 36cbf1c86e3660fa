import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { openWorkspace } from "./keelson-process.ts";
import { openTerminal } from "./keelson-terminal.ts";

// The test drives a real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const EDIT = { name: "edit_file", input: { path: "sum.js", old_string: "a - b", new_string: "a + b" } };

it.each([
  { theme: "none", count: "no cell of a conversation", isPainted: false },
  { theme: "ansi", count: "cells of a conversation", isPainted: true },
])("colours $count with the theme $theme", async ({ theme, isPainted }) => {
  await using workspace = await openWorkspace([{ text: "**Yes**, `sum` is wrong.", toolCalls: [EDIT] }, { text: "Mended." }], {
    "sum.js": "export const sum = (a, b) => a - b;\n",
  });
  await mkdir(workspace.home, { mode: 0o700 });
  await writeFile(join(workspace.home, "settings.json"), JSON.stringify({ theme }));
  await using terminal = openTerminal(workspace, ["--permission-mode", "accept-edits"], { env: { NO_COLOR: "" } });
  await terminal.until(/\n› $/);
  terminal.type("is it wrong?\r");
  await terminal.until(/Mended\.[\s\S]*✔ complete[\s\S]*\n› $/);
  expect(terminal.hasColors()).toBe(isPainted);
});

it("colours no question about trust with the theme none", async () => {
  await using workspace = await openWorkspace([], { "AGENTS.md": "Use tabs.\n" });
  await mkdir(workspace.home, { mode: 0o700 });
  await writeFile(join(workspace.home, "settings.json"), JSON.stringify({ theme: "none" }));
  await using terminal = openTerminal(workspace, [], { env: { NO_COLOR: "" } });
  await terminal.until(/AGENTS\.md · instructions[\s\S]*trust it, as it is now\?/);
  expect(terminal.hasColors()).toBe(false);
});
