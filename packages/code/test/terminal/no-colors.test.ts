import { describe, expect, it, vi } from "vitest";
import { openWorkspace, type Workspace } from "../keelson-process.ts";
import { HEARD, type KeelsonTerminal, openTerminal } from "../keelson-terminal.ts";
import { KEYS } from "./shared-terminal.ts";
import { stableScreen } from "./stable-screen.ts";
import { USAGE } from "./usage.ts";

// Every test drives a real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const MARKDOWN = "# A heading\n\nSome *words* and **bold** ones with `code`.\n\n```ts\nconst a = 1; // one\n```\n";

const openProject = (): Promise<Workspace> =>
  openWorkspace(
    [
      { text: MARKDOWN, usage: USAGE },
      { toolCalls: [{ name: "edit_file", input: { path: "sum.js", old_string: "a - b", new_string: "a + b" } }], usage: USAGE },
      { toolCalls: [{ name: "bash", input: { command: "echo wrong >&2; exit 3" } }], usage: USAGE },
      { text: "Mended.", usage: USAGE },
    ],
    { "sum.js": "export const sum = (a, b) => a - b;\n" },
  );

/** Reads Markdown, changes the mode, and answers a question about a change, which a failure follows. */
async function converse(terminal: KeelsonTerminal): Promise<void> {
  await terminal.until(/\n› $/);
  terminal.type(`show me${KEYS.enter}`);
  await terminal.until(/const a = 1[\s\S]*complete[\s\S]*\n› $/);
  terminal.type(`mend it${KEYS.enter}`);
  await terminal.until(HEARD);
  terminal.type(`y${KEYS.enter}`);
  await terminal.until(/Mended\.[\s\S]*complete[\s\S]*\n› $/);
  terminal.type(KEYS.shiftTab);
  await terminal.untilAll(/\n› \n.*accept-edits/);
}

/** A sequence that sets a style or a colour. One without parameters resets them. */
// oxlint-disable-next-line no-control-regex -- sequences begin with one
const SGR = /\u001b\[[\d;:]+m/;

describe.each([
  ["NO_COLOR=1", { NO_COLOR: "1" }],
  ["TERM=xterm-mono", { NO_COLOR: "", TERM: "xterm-mono" }],
  ["TERM=vt100", { NO_COLOR: "", TERM: "vt100" }],
] as const)("a terminal with %s", (_name, env) => {
  it("gets no colour, and tells changes, failures, modes and Markdown apart by signs and words", async () => {
    await using workspace = await openProject();
    await using terminal = openTerminal(workspace, ["--allow", "bash(*)", "--permission-mode", "default"], { rows: 50, env });
    await converse(terminal);
    expect(terminal.written()).not.toMatch(SGR);
    const rows = terminal.all();
    expect(stableScreen(workspace, rows.slice(rows.indexOf("› show me")))).toMatchSnapshot();
  });
});
