import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { HEARD } from "../keelson-terminal.ts";
import { KEYS, literal, shareTerminal } from "./shared-terminal.ts";
import { USAGE } from "./usage.ts";

// Every test drives a real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

describe("a command of the prompt", () => {
  const shared = shareTerminal({
    ...{ columns: 80, rows: 90, args: ["--permission-mode", "accept-edits"] },
    async begin(terminal) {
      await terminal.until(/trust it, as it is now\?.* › $/);
      terminal.type(`n${KEYS.enter}`);
    },
    script: [
      { toolCalls: [{ name: "edit_file", input: { path: "sum.js", old_string: "a - b", new_string: "a + b" } }], usage: USAGE },
      { toolCalls: [{ name: "bash", input: { command: "touch made" } }], usage: USAGE },
      { toolCalls: [{ name: "bash", input: { command: "seq 60 && false" } }], usage: USAGE },
      { text: "Mended.", usage: USAGE },
    ],
    files: {
      "sum.js": "export const sum = (a, b) => a - b;\n",
      "AGENTS.md": "Use tabs.\n",
      ".mcp.json": '{"mcpServers":{"notes":{"command":"node","args":["notes.js"]}}}',
      ".claude/skills/lint/SKILL.md": "---\nname: lint\ndescription: Lint the project\n---\nRun the linter.\n",
      ".claude/settings.json": '{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"true"}]}]}}',
    },
  });
  const { see } = shared;
  /** Returns what a command answers. */
  const answer = (command: string): Promise<string> =>
    see(`${command}${KEYS.enter}`, new RegExp(`› ${literal(command)}\\n[^›]+\\n› $`), `› ${command}`);

  it.each(["/undo", "/redo", "/diff", "/why", "/open", "/tasks", "/permissions", "/cost", "/context"])(
    "%s says so if there is nothing yet",
    async (command) => {
      expect(await answer(command)).toMatchSnapshot();
    },
  );

  it.each(["/memory", "/skills", "/hooks", "/mcp"])("%s shows what the project brings, and that it is not trusted", async (command) => {
    expect(await answer(command)).toMatchSnapshot();
  });

  it.each(["/model nothing", "/effort nothing", "/mode nothing", "/open x", "/undo x", "/resume nothing", "/nothing"])(
    "%s says what to write instead",
    async (command) => {
      expect(await answer(command)).toMatchSnapshot();
    },
  );

  it("/why says what decided that the last question was asked", async () => {
    await see(`mend it${KEYS.enter}`, HEARD);
    await see(`n${KEYS.enter}`, /Mended\.[\s\S]*complete[\s\S]*\n› $/);
    expect(await answer("/why")).toMatchSnapshot();
  });

  it.each(["/diff", "/diff call", "/cost"])("%s shows what the session changed and took", async (command) => {
    expect(await answer(command)).toMatchSnapshot();
  });

  it("/context shows what fills the last request, the largest part first", async () => {
    expect(await answer("/context")).toMatch(/1k tokens in the last request[^\n]*\n( +\d+ +\d+% {2}(tools|system|message) [^\n]*\n){10,}/);
  });

  it("/open shows an output that was folded", async () => {
    expect(await answer("/open")).toMatch(/\n58\n59\n60\n› $/m);
  });

  it("/undo takes the changes of the agent back, and /redo makes them again", async () => {
    expect(await answer("/undo")).toMatchSnapshot("undo");
    expect(await readFile(join(shared.workspace.project, "sum.js"), "utf8")).toContain("a - b");
    expect(await answer("/redo")).toMatchSnapshot("redo");
    expect(await readFile(join(shared.workspace.project, "sum.js"), "utf8")).toContain("a + b");
  });

  it("/compact says when the conversation is shortened", async () => {
    expect(await answer("/compact the names of files")).toMatchSnapshot();
  });

  it("/trust uses what the project brings from then on", async () => {
    expect(await answer("/trust")).toMatchSnapshot("trust");
    expect(await answer("/memory")).toMatchSnapshot("memory");
    expect(await answer("/skills")).toMatchSnapshot("skills");
    expect(await answer("/hooks")).toMatchSnapshot("hooks");
    expect(await answer("/mcp")).toMatchSnapshot("mcp");
  });

  it("/doctor checks keys, folders and programs", async () => {
    expect(await answer("/doctor")).toMatch(/✔ Node +\d[\s\S]*✔ anthropic[\s\S]*✔ home/);
  });
});
