import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@keelson/protocol";
import type { ServerTurn } from "keelson/testing";
import { describe, expect, it, vi } from "vitest";
import { hasBubblewrap } from "./has-bubblewrap.ts";
import { openWorkspace, resultsIn, type Workspace } from "./keelson-process.ts";

vi.setConfig({ testTimeout: 90_000 });

const env = { KEELSON_SANDBOX: "1" };
const bash = (...inputs: readonly JsonObject[]): ServerTurn[] => [
  { toolCalls: inputs.map((input) => ({ name: "bash", input })) },
  { text: "Done." },
];
const told = ({ server }: Workspace): string => resultsIn(server.requests.at(-1) as { readonly body: unknown });
const start = (workspace: Workspace, ...args: readonly string[]) => workspace.start(["-p", ...args, "go"], { env }).finished;
const script = 'cat .e* 2>/dev/null; grep -qs canary .env || { echo "no settings" >&2; exit 1; }\n';
const files = { ".env": "TOKEN=canary-value\n", ".env.example": "TOKEN=\n", "check.sh": script };

describe.skipIf(!hasBubblewrap)(hasBubblewrap ? "secrets of a project" : "secrets of a project (skipped: no bubblewrap)", () => {
  it("are hidden from commands; a failed command names them, and the model and the person are told", async () => {
    await using workspace = await openWorkspace(bash({ command: "sh check.sh" }), files);
    const { code, stderr } = await start(workspace);
    expect([code, told(workspace)]).toEqual([0, expect.stringMatching(/no settings.*hidden from commands.*\.env/s)]);
    expect(told(workspace)).not.toContain("canary-value");
    expect(JSON.stringify(workspace.server.requests[0])).toContain("hidden from commands: .env.");
    expect(stderr).toContain("Commands do not see .env");
  });

  it("are revealed to a command that asks for them only after a question, or by a rule", async () => {
    const input = { command: "sh check.sh", reveal: [".env"] };
    for (const [args, code, sees] of [
      [[], 4, false],
      [["--allow", "bash"], 4, false],
      [["--allow", "reveal(.env)"], 0, true],
      [["--allow", "reveal(.env)", "--deny", "read_file(**/.env)"], 0, false],
    ] as const) {
      await using workspace = await openWorkspace(bash(input), files);
      const done = await start(workspace, ...args);
      expect([args, done.code]).toEqual([args, code]);
      if (code === 4) expect(done.stdout + done.stderr).toContain("It would see .env, which the sandbox hides");
      else expect([args, told(workspace).includes("canary-value")]).toEqual([args, sees]);
    }
  });

  it("are revealed to every command of a project by a rule of the project", async () => {
    await using workspace = await openWorkspace(bash({ command: "sh check.sh" }), files);
    expect((await workspace.keelson("permissions", "allow", "reveal(.env)")).code).toBe(0);
    expect((await start(workspace)).code).toBe(0);
    expect(told(workspace)).toContain("canary-value");
  });

  it("are asked about where a line names them, and seen by that line once it is allowed", async () => {
    await using workspace = await openWorkspace(bash({ command: "cat .env" }, { command: "sh check.sh" }), files);
    expect((await start(workspace, "--allow", "bash(cat .env)")).code).toBe(0);
    expect(told(workspace).match(/canary-value/g)).toHaveLength(1);
    await using asked = await openWorkspace(bash({ command: "cat .env" }), files);
    expect((await start(asked)).code).toBe(4);
  });

  it("that git tracks can be read, and the person is told once", async () => {
    await using workspace = await openWorkspace(
      [...bash({ command: "sh check.sh" }), ...bash({ command: "git status --porcelain" })],
      files,
    );
    const git = (...args: readonly string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd: workspace.project });
    git("init", "-q");
    git("add", "-A");
    git("commit", "-qm", "x");
    writeFileSync(join(workspace.project, ".env.local"), "B=2\n");
    const first = await start(workspace);
    expect(first.stderr).toContain("Commands can read .env, which may hold secrets, because git tracks it.");
    expect(told(workspace)).toContain("canary-value");
    expect(JSON.stringify(workspace.server.requests[0])).toContain("can be read because git tracks them: .env.");
    const second = await start(workspace);
    expect(second.stderr).not.toContain("may hold secrets");
    expect(told(workspace)).not.toMatch(/ M |typechange/);
  });
});
