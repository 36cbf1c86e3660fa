import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { serveAuthorization } from "../../runtime/test/mcp/authorization-server.ts";
import { serveProtected } from "../../runtime/test/mcp/protected-server.ts";
import { openWorkspace, resultsIn, type Workspace } from "./keelson-process.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

/** The address that a login prints. */
const ADDRESS = /agree there:\s+(http\S+)\s+waiting/;

/** Logs in, as a person does whose browser goes where it is sent. */
async function logIn(workspace: Workspace): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  let told = "";
  const running = workspace.start(["mcp", "login", "notes"]);
  running.child.stderr?.on("data", (text: string) => (told += text));
  await running.until(ADDRESS);
  await vi.waitFor(() => expect(told).toMatch(ADDRESS));
  await fetch(ADDRESS.exec(told)?.[1] ?? "");
  return running.finished;
}

it("has a person log in to a server at an address that it prints, keeps that sealed, uses it in runs, and forgets it", async () => {
  await using authorization = await serveAuthorization();
  await using notes = await serveProtected(authorization);
  await using workspace = await openWorkspace([{ toolCalls: [{ name: "mcp__notes__add", input: { a: 2, b: 3 } }] }, { text: "Five." }]);
  await workspace.keelson("mcp", "add", "notes", notes.url);
  const before = await workspace.keelson("mcp", "test", "notes");
  expect(before).toMatchObject({ code: 1, stderr: expect.stringContaining("`keelson mcp login notes`") as string });
  expect(authorization.asked).toEqual([]);

  const finished = await logIn(workspace);
  expect(finished).toMatchObject({ code: 0, stdout: "logged in to notes\n" });
  expect((await workspace.keelson("mcp", "test", "notes")).code).toBe(0);
  const run = await workspace.keelson("-p", "--allow", "mcp__notes__add", "add");
  expect(run).toMatchObject({ code: 0, stdout: "Five.\n" });
  expect(resultsIn(workspace.server.requests[1] as never)).toContain('"5"');

  // Nothing of it can be read, nor is anything for others to read.
  const folder = join(workspace.home, "mcp-tokens");
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  expect(files.length).toBeGreaterThan(1);
  for (const file of files.filter((found) => found.isFile())) {
    const path = join(file.parentPath, file.name);
    expect((await stat(path)).mode & 0o077).toBe(0);
    const content = await readFile(path, "latin1");
    for (const secret of authorization.secrets) expect(content + finished.stderr + run.stderr).not.toContain(secret);
  }

  expect(await workspace.keelson("mcp", "logout", "notes")).toMatchObject({ code: 0, stdout: "logged out of notes\n" });
  expect((await workspace.keelson("mcp", "test", "notes")).code).toBe(1);
});

it("begins no login with a server of a project that nobody trusts, nor with one that takes none, and ends one with a signal", async () => {
  await using authorization = await serveAuthorization();
  await using notes = await serveProtected(authorization);
  const servers = { notes: { url: notes.url }, program: { command: "x" } };
  await using workspace = await openWorkspace([], { ".mcp.json": JSON.stringify({ mcpServers: servers }) });
  const untrusted = await workspace.keelson("mcp", "login", "notes");
  expect(untrusted).toMatchObject({ code: 1, stderr: expect.stringContaining("nobody trusts .mcp.json#notes as it is") as string });
  expect([authorization.asked, notes.requests]).toEqual([[], []]);
  await workspace.keelson("trust", "accept");
  const program = await workspace.keelson("mcp", "login", "program");
  expect(program).toMatchObject({ code: 1, stderr: expect.stringContaining("takes no logins") as string });
  const running = workspace.start(["mcp", "login", "notes"]);
  await running.until(ADDRESS);
  running.child.kill("SIGINT");
  expect((await running.finished).code).toBe(1);
});
