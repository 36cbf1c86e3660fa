import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerTurn } from "keelson/testing";
import { describe, expect, it, vi } from "vitest";
import { hasBubblewrap } from "./has-bubblewrap.ts";
import { openWorkspace, resultsIn } from "./keelson-process.ts";
import { openTerminal } from "./keelson-terminal.ts";

vi.setConfig({ testTimeout: 90_000 });

const bash = (...commands: readonly string[]): ServerTurn[] => [
  { toolCalls: commands.map((command) => ({ name: "bash", input: { command } })) },
  { text: "Done." },
];
const write = (path: string): ServerTurn[] => [{ toolCalls: [{ name: "write_file", input: { path, content: "x\n" } }] }, { text: "Done." }];
// An empty variable is the same as none.
const unset = { KEELSON_SANDBOX: "" };
const NO_BUBBLEWRAP = { ...unset, PATH: "/nowhere" };

describe.skipIf(!hasBubblewrap)(
  hasBubblewrap ? "commands of keelson" : "commands of keelson (skipped: bubblewrap is not installed)",
  () => {
    it("run in a sandbox by default, without a question", async () => {
      await using workspace = await openWorkspace(bash("X=touch; $X made; touch ../outside; echo over"));
      const { code, stderr } = await workspace.start(["-p", "go"], { env: unset }).finished;
      expect([code, stderr]).toEqual([0, expect.not.stringContaining("sandbox")]);
      expect(existsSync(join(workspace.project, "made"))).toBe(true);
      expect(existsSync(join(workspace.project, "../outside"))).toBe(false);
      expect(JSON.stringify(workspace.server.requests[0])).toContain("Commands run in a sandbox");
    });

    it("run without one with --no-sandbox and with the setting, and then are asked about", async () => {
      for (const [args, env] of [
        [["-p", "--no-sandbox", "go"], unset],
        [["-p", "go"], { KEELSON_SANDBOX: "off" }],
      ] as const) {
        await using workspace = await openWorkspace(bash("X=touch; $X made"));
        expect((await workspace.start(args, { env }).finished).code).toBe(4);
        expect(existsSync(join(workspace.project, "made"))).toBe(false);
      }
    });

    it("of a run that began in the sandbox never go on outside of it", async () => {
      await using workspace = await openWorkspace([...bash("cat .env"), { text: "Done." }], { ".env": "A=1\n" });
      const begun = await workspace.start(["-p", "--ask", "bash", "go"], { env: unset }).finished;
      expect(begun.code).toBe(4);
      const resumed = await workspace.start(["-p", "-c"], { env: NO_BUBBLEWRAP }).finished;
      expect([resumed.code, resumed.stderr]).toEqual([1, expect.stringContaining("This run began in a sandbox")]);
      await using terminal = openTerminal(workspace, ["-c", "--no-sandbox"], { columns: 200, env: unset });
      expect(await terminal.exited).toBe(1);
      expect(terminal.transcript()).toContain("Leave --no-sandbox away");
      const inside = await workspace.start(["-p", "-c"], { env: { KEELSON_SANDBOX: "0" } }).finished;
      expect(inside.code).toBe(4);
    });

    it("are not what is passed over if only the policy keeps a sandbox from being made", async () => {
      await using workspace = await openWorkspace(bash("touch made"));
      writeFileSync(join(workspace.project, "policy.json"), JSON.stringify({ filesystem: { writableRoots: ["missing"] } }));
      const { code, stderr } = await workspace.start(["-p", "--policy", "policy.json", "go"], { env: unset }).finished;
      expect([code, stderr]).toEqual([1, expect.stringContaining("missing")]);
    });

    it("and edits inside the project run unasked; steering and sensitive files are asked about", async () => {
      const asked = async (path: string, args: readonly string[] = []) => {
        await using workspace = await openWorkspace(write(path));
        const { code } = await workspace.start(["-p", ...args, "go"], { env: unset }).finished;
        return [path, code, existsSync(join(workspace.project, path))];
      };
      expect(await asked("src/new.ts")).toEqual(["src/new.ts", 0, true]);
      for (const path of ["sub/AGENTS.md", ".env", ".git/hooks/x", ".github/workflows/x.yml"])
        expect(await asked(path)).toEqual([path, 4, false]);
      expect(await asked("src/new.ts", ["--ask", "write_file"])).toEqual(["src/new.ts", 4, false]);
      expect(await asked("src/new.ts", ["--no-sandbox"])).toEqual(["src/new.ts", 4, false]);
    });

    it("have what they make of steering files moved aside, and the model is told", async () => {
      await using workspace = await openWorkspace(bash("sh make.sh"), {
        "make.sh": "mkdir -p sub/.vscode; echo x > sub/.vscode/tasks.json\n",
      });
      expect((await workspace.start(["-p", "go"], { env: unset }).finished).code).toBe(0);
      const told = resultsIn(workspace.server.requests.at(-1) as { readonly body: unknown });
      expect(told).toContain(".vscode.withheld-1");
      expect(told).toContain("Sandbox: moved aside");
      expect(existsSync(join(workspace.project, "sub/.vscode"))).toBe(false);
      expect(readFileSync(join(workspace.project, "sub/.vscode.withheld-1/tasks.json"), "utf8")).toBe("x\n");
    });

    it("say on the first screen, and in doctor, which holds", async () => {
      await using workspace = await openWorkspace([]);
      for (const [args, env, shown] of [
        [[], unset, / · sandbox · /],
        [["--no-sandbox"], unset, / · no sandbox · /],
      ] as const) {
        await using terminal = openTerminal(workspace, args, { columns: 200, env });
        await terminal.until(shown);
      }
      const doctor = async (env: { readonly [name: string]: string }) => (await workspace.start(["doctor"], { env }).finished).stdout;
      expect(await doctor(unset)).toMatch(/✔ sandbox +commands run in a sandbox/);
      expect(await doctor({ KEELSON_SANDBOX: "0" })).toMatch(/– sandbox +switched off by KEELSON_SANDBOX/);
    });
  },
);

describe("without bubblewrap", () => {
  it("a run goes on without a sandbox, and the reason is shown once", async () => {
    await using workspace = await openWorkspace([...bash("X=touch; $X made"), { text: "Done." }]);
    const { code, stderr } = await workspace.start(["-p", "go"], { env: NO_BUBBLEWRAP }).finished;
    expect(code).toBe(4);
    expect(stderr.match(/Commands run without a sandbox/g)).toHaveLength(1);
    expect(stderr).toContain("install bubblewrap");
    expect((await workspace.start(["doctor"], { env: NO_BUBBLEWRAP }).finished).stdout).toMatch(/– sandbox +.*install bubblewrap/);
  });
});
