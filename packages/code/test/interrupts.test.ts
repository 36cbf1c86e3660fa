import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { endOf, eventsOf, openWorkspace } from "./keelson-process.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const headless = ["-p", "--output-format", "stream-json", "--allow", "bash(*)"];

/** A command that says when it runs, then waits for a file that somebody makes. */
const WAITING = "touch started; while [ ! -e release ]; do sleep 0.05; done; touch finished";

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

describe("Ctrl-C", () => {
  it("once lets the call that runs come to its end, then stops", async () => {
    await using workspace = await openWorkspace([
      { text: "working", toolCalls: [{ name: "bash", input: { command: WAITING } }] },
      { text: "never asked" },
    ]);
    const running = workspace.start([...headless, "go"]);
    await running.until(/tool-calls-start/);
    await vi.waitUntil(() => exists(join(workspace.project, "started")), 20_000);
    running.child.kill("SIGINT");
    await running.until(/stopping after this step/);
    await workspace.keelson("--version");
    expect(running.child.exitCode).toBe(null);
    await writeFile(join(workspace.project, "release"), "");
    const finished = await running.finished;
    expect([finished.code, endOf(eventsOf(finished))]).toEqual([130, expect.objectContaining({ type: "run-complete", reason: "stopped" })]);
    expect(await exists(join(workspace.project, "finished"))).toBe(true);
    expect(workspace.server.requests.length).toBe(1);
  });

  it("twice aborts: the command is killed with all it started", async () => {
    await using workspace = await openWorkspace([{ toolCalls: [{ name: "bash", input: { command: WAITING } }] }]);
    const running = workspace.start([...headless, "go"]);
    await vi.waitUntil(() => exists(join(workspace.project, "started")), 20_000);
    running.child.kill("SIGINT");
    await running.until(/stopping/);
    running.child.kill("SIGINT");
    const finished = await running.finished;
    expect([finished.code, endOf(eventsOf(finished))]).toEqual([130, expect.objectContaining({ type: "run-complete", reason: "aborted" })]);
    expect(await exists(join(workspace.project, "finished"))).toBe(false);
  });

  it("stops a model that streams at once, and the connection is closed", async () => {
    await using workspace = await openWorkspace([{ text: "thinking aloud for ever", misbehave: { stall: "in-body" } }]);
    const running = workspace.start([...headless, "go"]);
    await running.until(/text-delta[^\n]*thinking/);
    running.child.kill("SIGINT");
    const finished = await running.finished;
    expect([finished.code, endOf(eventsOf(finished))]).toEqual([
      130,
      expect.objectContaining({ reason: "stopped", text: expect.stringMatching(/^thinking/) }),
    ]);
    // No step is left to its end.
    expect(finished.stderr).toBe("");
    await workspace.server.idle();
  });

  it("leaves a session that can be gone on with", async () => {
    await using workspace = await openWorkspace([{ text: "x", misbehave: { stall: "in-body" } }, { text: "Here I am again." }]);
    const running = workspace.start(["-p", "--output-format", "stream-json", "go"]);
    await running.until(/turn-start/);
    running.child.kill("SIGTERM");
    expect((await running.finished).code).toBe(130);
    expect(await workspace.keelson("-p", "-c", "and now?")).toEqual({ code: 0, stdout: "Here I am again.\n", stderr: expect.any(String) });
    expect(JSON.stringify(workspace.server.requests[1]?.body)).toMatch(/go[\s\S]*and now\?/);
  });
});
