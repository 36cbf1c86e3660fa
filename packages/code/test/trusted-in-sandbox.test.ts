import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { hasBubblewrap } from "./has-bubblewrap.ts";
import { openWorkspace, resultsIn, type Workspace } from "./keelson-process.ts";
import { NOTE_SERVER } from "./note-server.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const outsideOf = ({ project }: Workspace): string => join(dirname(project), "outside.txt");

describe.skipIf(!hasBubblewrap)(
  hasBubblewrap
    ? "what a project brings and a person trusts"
    : "what a project brings and a person trusts (skipped: bubblewrap is not installed)",
  () => {
    it.each([
      [true, false],
      [undefined, true],
    ])("runs a hook with `sandbox: %s` where writing outside of the project is possible: %s", async (sandbox, isPossible) => {
      const handler = { type: "command", command: "echo x > ../outside.txt; echo x > inside.txt", sandbox };
      await using workspace = await openWorkspace([{ text: "done" }], {
        ".keelson/hooks.json": JSON.stringify({ hooks: { SessionStart: [{ hooks: [handler] }] } }),
      });
      await workspace.keelson("-p", "--trust", "go");
      expect(await readFile(join(workspace.project, "inside.txt"), "utf8")).toBe("x\n");
      expect(existsSync(outsideOf(workspace))).toBe(isPossible);
    });

    it.each([
      [["--sandbox"], undefined, false],
      [["--sandbox"], false, true],
      [[], true, false],
      [[], undefined, true],
    ] as const)(
      "with %j runs a server with `sandbox: %s` where writing outside of the project is possible: %s",
      async (options, sandbox, isPossible) => {
        let path = "";
        const take = (): object => ({ toolCalls: [{ name: "mcp__notes__take", input: { path } }] });
        await using workspace = await openWorkspace(({ index }) => (index === 0 ? take() : { text: "done" }), {
          ".mcp.json": JSON.stringify({ mcpServers: { notes: { command: process.execPath, args: ["notes.mjs"], sandbox } } }),
          "notes.mjs": NOTE_SERVER,
        });
        path = outsideOf(workspace);
        const { code } = await workspace.keelson("-p", "--trust", ...options, "--allow", "mcp__notes__*", "go");
        expect(code).toBe(0);
        // The sandbox has a folder for temporary files of its own, in which it can write.
        expect(resultsIn(workspace.server.requests.at(-1) as never)).toContain("taken");
        expect(existsSync(path)).toBe(isPossible);
      },
    );
  },
);
