import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { openWorkspace, type Workspace } from "./keelson-process.ts";
import { NOTE_SERVER } from "./note-server.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const ASKING = { text: "I need a command.", toolCalls: [{ name: "bash", input: { command: "touch made" } }] };

/** A session that waits for a person's word. */
async function suspended(workspace: Workspace, ...args: readonly string[]): Promise<string> {
  const { stdout } = await workspace.keelson("-p", "--output-format", "json", ...args, "make a file");
  const { session, reason } = JSON.parse(stdout) as { readonly session: string; readonly reason: string };
  expect(reason).toBe("awaiting-approval");
  return session;
}

/** Of each file of the home folder. What SQLite shares between processes that look at a file is no part of what it holds. */
async function bytesIn(home: string): Promise<{ readonly [file: string]: string }> {
  const found: { [file: string]: string } = {};
  for (const file of await readdir(home, { recursive: true })) {
    if (file.endsWith("-shm")) continue;
    const bytes = await readFile(join(home, file)).catch(() => undefined);
    if (bytes !== undefined && bytes.length > 0) found[file] = createHash("sha256").update(bytes).digest("hex");
  }
  return found;
}

describe("keelson sessions rehearse", () => {
  it("tells of each session that has an open run what would become of it, a line each, and changes nothing", async () => {
    await using workspace = await openWorkspace([ASKING, { text: "Hello." }]);
    const session = await suspended(workspace);
    await workspace.keelson("-p", "say hello");
    const asked = workspace.server.requests.length;
    const before = await bytesIn(workspace.home);
    expect(await workspace.keelson("sessions", "rehearse")).toEqual({
      code: 0,
      stdout: `✔ ${session}  waits: it waits as before, for a person's word on bash.\n✔ 1 session with an open run: this build goes on with all of them\n`,
      stderr: "",
    });
    expect(await bytesIn(workspace.home)).toEqual(before);
    expect(workspace.server.requests).toHaveLength(asked);
  });

  it("starts and asks no MCP server, and knows their tools from what was recorded", async () => {
    const taking = { toolCalls: [{ name: "mcp__notes__take", input: { path: "taken.txt" } }] };
    await using workspace = await openWorkspace([taking], { "notes.mjs": NOTE_SERVER });
    const notes = { command: process.execPath, args: ["notes.mjs"] };
    await mkdir(workspace.home, { mode: 0o700 });
    await writeFile(join(workspace.home, "mcp.json"), JSON.stringify({ mcpServers: { notes } }));
    await writeFile(join(workspace.home, "version"), "1\n");
    const session = await suspended(workspace);
    await rm(join(workspace.project, "started.txt"));
    const mcpServers = { notes, web: { url: "http://127.0.0.1:9/mcp" } };
    await writeFile(join(workspace.home, "mcp.json"), JSON.stringify({ mcpServers }));
    const before = await bytesIn(workspace.home);
    expect(await workspace.keelson("sessions", "rehearse")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`✔ ${session}  waits: it waits as before, for a person's word on mcp__notes__take.`) as string,
    });
    expect(await bytesIn(workspace.home)).toEqual(before);
    expect(existsSync(join(workspace.project, "started.txt"))).toBe(false);
  });

  it("ends with 5 where one would not go on, and says what to do; as JSON, too", async () => {
    await using workspace = await openWorkspace([ASKING, ASKING], { "sub/x": "" });
    const session = await suspended(workspace);
    const elsewhere = await suspended(workspace, "-C", "sub", "--model", "openai/gpt-5-mini");
    const withoutKey = { OPENAI_API_KEY: "", OPENAI_BASE_URL: "" };
    const { code, stdout } = await workspace.start(["sessions", "rehearse"], { env: withoutKey }).finished;
    expect(code).toBe(5);
    expect(stdout).toMatch(new RegExp(`✔ ${session}  waits: .*\n`));
    expect(stdout).toMatch(new RegExp(`✗ ${elsewhere}  refused: .*openai.* Set ANTHROPIC_API_KEY or .*\n`));
    expect(stdout).toMatch(/2 sessions with an open run: 1 would not go on\n$/);

    const json = await workspace.start(["sessions", "rehearse", "--json"], { env: withoutKey }).finished;
    expect(json.code).toBe(5);
    expect(JSON.parse(json.stdout)).toContainEqual(expect.objectContaining({ session: elsewhere, verdict: "refused", isSafe: false }));

    await rm(join(workspace.project, "sub"), { recursive: true });
    expect((await workspace.keelson("sessions", "rehearse", session.slice(0, 12))).code).toBe(0);
    const gone = await workspace.keelson("sessions", "rehearse", elsewhere);
    expect(gone).toEqual({ code: 5, stdout: expect.stringMatching(/refused: .*sub/), stderr: "" });
  });
});
