import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { hasBubblewrap } from "./has-bubblewrap.ts";
import { type Workspace, openWorkspace } from "./keelson-process.ts";
import { HEARD, openTerminal } from "./keelson-terminal.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 240_000 });

const bash = (command: string, more: object = {}): object => ({ toolCalls: [{ name: "bash", input: { command, ...more } }] });

/** A project with dependencies that git ignores. */
async function openProject(script: readonly object[]): Promise<Workspace> {
  const workspace = await openWorkspace(script as never, { ".gitignore": "node_modules/\n", "a.txt": "mine\n" });
  mkdirSync(join(workspace.project, ".git"));
  writeFileSync(join(workspace.project, ".git/HEAD"), "ref: refs/heads/main\n");
  mkdirSync(join(workspace.project, "node_modules/lib"), { recursive: true });
  writeFileSync(join(workspace.project, "node_modules/lib/a.js"), "1\n");
  return workspace;
}

describe("a command that destroys more than undo covers", () => {
  it("is asked about although a rule allows its program, and a lasting answer is one about what is lost [TC-21]", async () => {
    await using workspace = await openProject([
      bash("rm -f a.txt"),
      bash("rm -rf node_modules"),
      { text: "Done one." },
      bash("mkdir node_modules && touch node_modules/x"),
      bash("rm -rf node_modules"),
      { text: "Done two." },
    ]);
    await using terminal = openTerminal(workspace, [
      "--no-sandbox",
      "--allow",
      "bash(rm **)",
      "--allow",
      "bash(mkdir **)",
      "--allow",
      "bash(touch **)",
    ]);
    await terminal.until(/› $/m);
    terminal.type("one\r");
    await terminal.until(HEARD);
    expect(terminal.rows().join(" ")).toMatch(/destroy what nothing can bring back: node_modules \(1 file\)/);
    expect([existsSync(join(workspace.project, "a.txt")), existsSync(join(workspace.project, "node_modules"))]).toEqual([false, true]);
    terminal.type("a\r");
    await terminal.until(/the loss of these files by every command\s+lose\(node_modules\)/);
    terminal.type("1\r");
    await terminal.until(/allow › lose\(node_modules\)$/m);
    terminal.type("\r");
    await terminal.until(/Done one\.[\s\S]*› $/m);
    expect(existsSync(join(workspace.project, "node_modules"))).toBe(false);
    terminal.type("two\r");
    await terminal.until(/Done two\.[\s\S]*› $/m);
    expect(existsSync(join(workspace.project, "node_modules"))).toBe(false);
    terminal.type("/quit\r");
    expect(await terminal.exited).toBe(0);
  });

  it.skipIf(!hasBubblewrap)("suspends a run in a sandbox with the reason, and runs there by a rule about `lose`", async () => {
    await using workspace = await openProject([bash("rm -rf node_modules"), bash("rm -rf node_modules"), { text: "Done." }]);
    const inSandbox = (...args: readonly string[]): ReturnType<Workspace["keelson"]> =>
      workspace.start(args, { env: { KEELSON_SANDBOX: "" } }).finished;
    const asked = await inSandbox("--output-format", "json", "-p", "clean");
    expect([asked.code, (JSON.parse(asked.stdout) as { reason: string }).reason]).toEqual([4, "awaiting-approval"]);
    expect((await workspace.keelson("approve")).stdout).toMatch(/It may destroy what nothing can bring back: node_modules/);
    expect(existsSync(join(workspace.project, "node_modules"))).toBe(true);
    expect((await inSandbox("--allow", "lose(node_modules)", "-p", "clean")).stdout).toMatch(/Done\./);
    expect(existsSync(join(workspace.project, "node_modules"))).toBe(false);
  });

  it("runs unasked in bypass-all, and its result says what was lost, of a command in the background as well", async () => {
    await using workspace = await openProject([
      bash("rm -rf node_modules"),
      bash("mkdir -p node_modules && touch node_modules/x"),
      bash("sleep 1; rm -rf node_modules", { run_in_background: true }),
      bash("sleep 4"),
      { text: "Done." },
      { text: "Done." },
    ]);
    const { code } = await workspace.keelson("--permission-mode", "bypass-all", "--no-sandbox", "-p", "clean");
    expect(code).toBe(0);
    const note = "node_modules was deleted and cannot be undone: git ignores it, and it holds dependencies; install them again.";
    const told = JSON.stringify(workspace.server.requests.at(-1)?.body);
    expect(told.split(note).length - 1).toBe(2);
    expect(told).toMatch(/job_[^]*exit code 0[^]{0,200}node_modules was deleted/);
  });
});
