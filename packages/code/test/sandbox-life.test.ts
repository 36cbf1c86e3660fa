import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@keelson/protocol";
import { describe, expect, it, vi } from "vitest";
import { allowInProject } from "../src/core/project-rules.ts";
import { hasBubblewrap } from "./has-bubblewrap.ts";
import { openWorkspace, resultsIn, type Workspace } from "./keelson-process.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 90_000 });

const turn = (...inputs: readonly JsonObject[]) => ({ toolCalls: inputs.map((input) => ({ name: "bash", input })) });
const DONE = { text: "Done." };
const results = ({ server }: Workspace): string => resultsIn(server.requests.at(-1) as { readonly body: unknown });
const repository = async (script: Parameters<typeof openWorkspace>[0]): Promise<Workspace> => {
  const workspace = await openWorkspace(script, { "a.txt": "a" });
  execFileSync("git", ["init", "-q"], { cwd: workspace.project });
  return workspace;
};

describe.skipIf(!hasBubblewrap)(
  hasBubblewrap ? "life in the sandbox" : "life in the sandbox (skipped: bubblewrap is not installed)",
  () => {
    it("tells of a git command that needs .git/config how it can run, asks before it leaves, and lets a rule answer", async () => {
      const add = "git remote add origin https://example.com/x.git";
      const outside = { command: add, outside: true, reason: "It writes .git/config." };
      await using workspace = await repository([turn({ command: add }), DONE, turn(outside), turn(outside), DONE]);
      const config = (): string => readFileSync(join(workspace.project, ".git/config"), "utf8");
      expect((await workspace.keelson("-p", "--sandbox", "--allow", "host(example.com)", "go")).code).toBe(0);
      expect(results(workspace)).toMatch(/\.git\/config is read-only in the sandbox.*outside: true/);
      const asked = await workspace.keelson("-p", "--sandbox", "--allow", "bash", "--allow", "host(example.com)", "go");
      expect(asked.code).toBe(4);
      expect(asked.stdout + asked.stderr).toMatch(/outside of the sandbox.*It\s+writes \.git\/config\./s);
      expect(config()).not.toContain("remote");
      const allowed = await workspace.keelson(
        "-p",
        "--sandbox",
        "--allow",
        "outside(git remote add *)",
        "--allow",
        "write_file(.git/config)",
        "go",
      );
      expect([allowed.code, config()]).toEqual([0, expect.stringContaining('[remote "origin"]')]);
    });

    it("takes `outside` for nothing special without a sandbox", async () => {
      await using workspace = await openWorkspace([turn({ command: "touch made", outside: true, reason: "x" }), DONE]);
      expect((await workspace.keelson("-p", "--allow", "bash(touch *)", "go")).code).toBe(0);
      expect(existsSync(join(workspace.project, "made"))).toBe(true);
    });

    it("has a server in the background answer later commands, and keeps /tmp for the session", async () => {
      const serve = `${process.execPath} -e 'require("http").createServer((_, r) => r.end("answered")).listen(4719, "127.0.0.1", () => console.log("up"))'`;
      const get = `for i in $(seq 100); do ${process.execPath} -e 'fetch("http://127.0.0.1:4719").then((r) => r.text()).then((t) => console.log(t), () => process.exit(1))' && break; done; cat /tmp/kept`;
      await using workspace = await openWorkspace([
        turn({ command: "echo kept > /tmp/kept" }),
        turn({ command: serve, run_in_background: true }),
        turn({ command: get }),
        DONE,
      ]);
      expect((await workspace.keelson("-p", "--sandbox", "go")).code).toBe(0);
      expect(results(workspace)).toMatch(/answered\\nkept/);
    });

    it("keeps a host that was opened for the project open in later sessions, for commands that do not name it as well", async () => {
      const dial = `${process.execPath} -e 'fetch("http://opened.invalid/").then((r) => r.text()).then(console.log)'`;
      await using workspace = await openWorkspace([turn({ command: "curl -sS http://opened.invalid/" }, { command: dial }), DONE]);
      await workspace.keelson("doctor");
      await allowInProject({ permissions: join(workspace.home, "permissions.jsonl") }, workspace.project, ["host(opened.invalid)"], 1);
      expect((await workspace.keelson("-p", "--sandbox", "go")).code).toBe(0);
      // There is no such host; that was found out by looking it up, which the proxy does for open hosts alone.
      expect(results(workspace)).not.toMatch(/the policy does not allow|refused connections/);
      expect(results(workspace).match(/opened\.invalid is not known|getaddrinfo/g)).toHaveLength(2);
    });

    it("asks before a port of the sandbox is reachable on this machine, and names the address then", async () => {
      const serve = `${process.execPath} -e 'require("http").createServer((_, r) => r.end("published")).listen(4721, "127.0.0.1", () => console.log("up"))'`;
      const publish = { command: serve, run_in_background: true, publish: [4721] };
      const get = "curl -sS --retry 9 --retry-all-errors --retry-delay 1 http://127.0.0.1:4721/";
      await using workspace = await openWorkspace([
        turn(publish),
        turn(publish),
        turn({ command: get, outside: true, reason: "It looks at the published port." }),
        DONE,
      ]);
      const asked = await workspace.keelson("-p", "--sandbox", "--allow", "bash", "go");
      expect([asked.code, asked.stdout + asked.stderr]).toEqual([4, expect.stringContaining("4721")]);
      const allowed = await workspace.keelson("-p", "--sandbox", "--allow", "port(4721)", "--allow", "outside(curl **)", "go");
      expect(allowed.code).toBe(0);
      expect(results(workspace)).toContain("http://127.0.0.1:4721/ on this machine");
      expect(results(workspace)).toContain("published");
    });

    it("asks about hosts that a line names or a call asks for, and names in the result those that it met closed", async () => {
      const dial = `${process.execPath} -e 'fetch("http://unlisted.example/").then((r) => r.text()).then(console.log)'`;
      await using workspace = await openWorkspace([
        turn({ command: dial }),
        DONE,
        turn({ command: "curl -sS http://unlisted.example/" }),
        turn({ command: "npm install", hosts: ["https://registry.example.com"] }),
      ]);
      expect((await workspace.keelson("-p", "--sandbox", "go")).code).toBe(0);
      expect(results(workspace)).toContain("refused connections to unlisted.example:80");
      expect(results(workspace)).toContain('hosts: [\\"unlisted.example\\"]');
      const named = await workspace.keelson("-p", "--sandbox", "--allow", "bash", "go");
      expect([named.code, named.stdout + named.stderr]).toEqual([4, expect.stringContaining("unlisted.example")]);
      const given = await workspace.keelson("-p", "--sandbox", "--allow", "bash", "go");
      expect([given.code, given.stdout + given.stderr]).toEqual([4, expect.stringContaining("registry.example.com")]);
    });
  },
);
