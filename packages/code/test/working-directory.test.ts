import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { hasBubblewrap } from "./has-bubblewrap.ts";
import { eventsOf, openWorkspace, resultsIn } from "./keelson-process.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 240_000 });

const bash = (command: string): object => ({ toolCalls: [{ name: "bash", input: { command } }] });

describe("the working directory of a session", () => {
  it("outlives a SIGKILL: a command that only reads is repeated there, without a question [TC-02]", async () => {
    const reading = "pwd; while [ ! -e ../release ]; do sleep 0.1; done";
    await using workspace = await openWorkspace([
      bash("mkdir -p sub && cd sub"),
      bash(`touch ../ready`),
      bash(reading),
      { text: "Done." },
      bash("pwd"),
      { text: "Again." },
    ]);
    const first = workspace.start(["-p", "--output-format", "stream-json", "--allow", "bash(*)", "go"]);
    await vi.waitUntil(() => workspace.server.requests.length === 3, { timeout: 120_000 });
    await first.until(/"type":"tool-progress"[^\n]*sub/);
    first.child.kill("SIGKILL");
    await first.finished;
    const [{ session }] = eventsOf({ stdout: first.output() }).filter(({ type }) => type === "run-start") as unknown as [
      { session: string },
    ];
    await writeFile(join(workspace.project, "release"), "");
    const resumed = await workspace.keelson("-p", "-r", session);
    expect([resumed.code, resumed.stdout]).toEqual([0, "Done.\n"]);
    expect(resultsIn(workspace.server.requests[3] as never)).toContain(`${workspace.project}/sub`);
    // Also a later run of the session starts there.
    expect((await workspace.keelson("-p", "-r", session, "and again")).code).toBe(0);
    expect(resultsIn(workspace.server.requests[5] as never).split(`${workspace.project}/sub`).length).toBeGreaterThan(2);
  });

  it.skipIf(!hasBubblewrap)("moves in a sandbox as well, and its paths are judged from there", async () => {
    const write = { toolCalls: [{ name: "write_file", input: { path: "here.txt", content: "here\n" } }] };
    await using workspace = await openWorkspace([bash("cd sub && pwd"), bash("echo shell > shell.txt"), write, { text: "Done." }]);
    await mkdir(join(workspace.project, "sub"));
    const run = workspace.start(["-p", "--permission-mode", "accept-edits", "go"], { env: { KEELSON_SANDBOX: "1" } });
    expect((await run.finished).code).toBe(0);
    expect(await readFile(join(workspace.project, "sub/shell.txt"), "utf8")).toBe("shell\n");
    expect(await readFile(join(workspace.project, "sub/here.txt"), "utf8")).toBe("here\n");
  });
});
