import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { openWorkspace, resultsIn, type Workspace } from "./keelson-process.ts";
import { HEARD, openTerminal } from "./keelson-terminal.ts";
import { NOTE_SERVER } from "./note-server.ts";

// Every test drives a real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 240_000 });

const ESCAPE = "\u001b";
const UNASKED = ["--permission-mode", "bypass-all"];
/** A server that does what it is asked and never says so. */
const MUTE_SERVER = NOTE_SERVER.replace("if (id !== undefined)", 'if (id !== undefined && method !== "tools/call")');

/** False for a zombie, too: process 1 of a container may not collect those. */
const isAlive = (pid: string): boolean => {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
};

/** The records of the only session, as it is exported. */
async function exported(workspace: Workspace): Promise<string> {
  const { stdout } = await workspace.keelson("sessions", "list", "--all", "--json");
  const [{ id }] = JSON.parse(stdout) as [{ readonly id: string }];
  const file = join(workspace.home, "exported.jsonl");
  await workspace.keelson("sessions", "export", id, file);
  return readFile(file, "utf8");
}

describe("Esc in a terminal", () => {
  it("ends a command and its strays that ignore SIGTERM, and commits its output as interrupted", async () => {
    const stubborn = "trap '' TERM; echo $$ >> pids; while :; do sleep 0.05; done";
    const command = `trap '' TERM; setsid sh -c "${stubborn.replace("$$", String.raw`\$\$`)}" & echo $$ >> pids; echo begun; while :; do sleep 0.05; done`;
    await using workspace = await openWorkspace([{ toolCalls: [{ name: "bash", input: { command } }] }, { text: "Going on." }]);
    await using terminal = openTerminal(workspace, UNASKED);
    await terminal.until(/› $/m);
    terminal.type("go\r");
    await terminal.until(/bash: begun/);
    const pids = await vi.waitUntil(
      async () => {
        const lines = (await readFile(join(workspace.project, "pids"), "utf8")).trim().split("\n");
        return lines.length === 2 && lines;
      },
      { timeout: 60_000 },
    );
    terminal.type(ESCAPE);
    await terminal.until(/✗ stopped[\s\S]*\n› $/);
    expect(pids.map(isAlive)).toEqual([false, false]);
    terminal.type("and now?\r");
    await terminal.until(/Going on\./);
    expect(resultsIn(workspace.server.requests[1] as never)).toMatch(
      /begun[\s\S]*interrupted by the person, and ended with everything it started/,
    );
    terminal.type("/quit\r");
    expect(await terminal.exited).toBe(0);
    expect(await exported(workspace)).toMatch(/"tool-result"[^\n]*"interrupted":true/);
  });

  it("does not cut an edit in two: the file is whole, old or new, and the result says which", async () => {
    const line = "the quick brown fox jumps over the lazy dog\n";
    const old = `${line.repeat(400_000)}last\n`;
    const call = { name: "edit_file", input: { path: "big.txt", old_string: "last\n", new_string: "LAST\n" } };
    await using workspace = await openWorkspace([{ toolCalls: [call] }, { text: "Going on." }], { "big.txt": old });
    await using terminal = openTerminal(workspace, UNASKED);
    await terminal.until(/› $/m);
    terminal.type("go\r");
    await vi.waitUntil(() => workspace.server.requests.length === 1, 60_000);
    await terminal.until(/edit_file|big\.txt/);
    terminal.type(ESCAPE);
    // If the edit was done already, the response after it ends.
    await terminal.until(/(?:✗ stopped|Going on\.)[\s\S]*\n› $/);
    const now = await readFile(join(workspace.project, "big.txt"), "utf8");
    expect([now.length, await readdir(workspace.project)]).toEqual([old.length, ["big.txt"]]);
    terminal.type("and now?\r");
    await vi.waitUntil(() => workspace.server.requests.length > 1, 60_000);
    await terminal.until(/Going on\.|\n› $/);
    const said = resultsIn(workspace.server.requests.at(-1) as never);
    if (now.endsWith("LAST\n")) expect(said).toMatch(/Edited big\.txt/);
    else expect(said).toMatch(/Interrupted: the run was stopped before this call changed anything/);
  });

  it("leaves a call of a server that does not answer, and asks about it before the next message is sent", async () => {
    const take = { name: "mcp__notes__take", input: { path: "taken.txt" } };
    let asked = 0;
    let taking = 0;
    await using workspace = await openWorkspace(
      ({ body }) => {
        asked++;
        if (taking > 0) return { text: "Going on." };
        // The server comes while the run is at work.
        if (!JSON.stringify(body).includes(`"${take.name}"`))
          return { toolCalls: [{ name: "bash", input: { command: `sleep 0.5; echo ${asked}` } }] };
        taking = asked;
        return { toolCalls: [take] };
      },
      { "notes.mjs": MUTE_SERVER },
    );
    await mkdir(workspace.home, { mode: 0o700 });
    await writeFile(join(workspace.home, "version"), "1\n");
    const servers = { notes: { command: process.execPath, args: ["notes.mjs"] } };
    await writeFile(join(workspace.home, "mcp.json"), JSON.stringify({ mcpServers: servers }));
    await using terminal = openTerminal(workspace, UNASKED, { rows: 60, timeByHand: true });
    await terminal.until(/› $/m);
    terminal.type("take a note\r");
    await vi.waitUntil(() => readFile(join(workspace.project, "taken.txt"), "utf8").then(Boolean, () => false), 90_000);
    terminal.type(ESCAPE);
    await terminal.until(/which asks you here first[\s\S]*\n› $/);
    terminal.type("and now?\r");
    await terminal.until(/the run was interrupted before it said\s+what it did/);
    terminal.pause();
    await terminal.until(HEARD);
    expect(asked).toBe(taking);
    terminal.type("f\r");
    await terminal.until(/Going on\./);
    expect(JSON.stringify(workspace.server.requests.at(-1)?.body)).toMatch(/counts as failed[\s\S]*and now\?/);
    // It was made once.
    expect(await readFile(join(workspace.project, "taken.txt"), "utf8")).toBe("noted\n");
  });
});
