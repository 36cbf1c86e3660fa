import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { hasBubblewrap } from "./has-bubblewrap.ts";
import { openWorkspace } from "./keelson-process.ts";

vi.setConfig({ testTimeout: 60_000 });

describe("keelson sandbox", () => {
  it("says what is wrong with a policy, and runs nothing", async () => {
    await using workspace = await openWorkspace([]);
    const policy = join(workspace.project, "policy.json");
    const run = () => workspace.start(["sandbox", "--policy", "policy.json", "--", "touch", "ran"]).finished;
    expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining("can't be read") });
    writeFileSync(policy, "{");
    expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining("is no JSON") });
    writeFileSync(policy, '{ "filesystem": { "deniedPath": ["x"] } }');
    expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining('did you mean "deniedPaths"?') });
    expect(existsSync(join(workspace.project, "ran"))).toBe(false);
  });

  it("runs nothing where there is no bubblewrap, and says so", async () => {
    await using workspace = await openWorkspace([]);
    const { code, stderr } = await workspace.start(["sandbox", "--", "touch", "ran"], { env: { PATH: workspace.project } }).finished;
    expect([code, stderr]).toEqual([1, expect.stringContaining("install bubblewrap")]);
    expect(existsSync(join(workspace.project, "ran"))).toBe(false);
  });

  describe.skipIf(!hasBubblewrap)(hasBubblewrap ? "with bubblewrap" : "with bubblewrap (skipped: it is not installed)", () => {
    it("runs a command with its options, its standard input and its exit code", async () => {
      await using workspace = await openWorkspace([], { "a.txt": "text" });
      const script = 'cat; cat a.txt; echo "$1" >&2; echo new > b.txt; echo x > /outside; exit 7';
      const { code, stdout, stderr } = await workspace.start(["sandbox", "--", "sh", "-c", script, "sh", "--help"], { stdin: "given " })
        .finished;
      expect([code, stdout]).toEqual([7, "given text"]);
      expect(stderr).toMatch(/^--help\n.*outside.*\n$/);
      expect(readFileSync(join(workspace.project, "b.txt"), "utf8")).toBe("new\n");
    });

    it("holds it to the policy, and tells of connections that it refused", async () => {
      const policy = { filesystem: { deniedPaths: ["secret"] }, network: { enabled: true, allowedDomains: [] } };
      await using workspace = await openWorkspace([], { "secret": "canary", "policy.json": JSON.stringify(policy) });
      const script =
        'cat secret; exec 3<>/dev/tcp/127.0.0.1/3128; printf "CONNECT example.com:443 HTTP/1.1\\r\\n\\r\\n" >&3; read -r line <&3; echo "$line"';
      const { stdout, stderr } = await workspace.start(["sandbox", "--policy", "policy.json", "--", "bash", "-c", script]).finished;
      expect(stdout.trim()).toBe("HTTP/1.1 403 Forbidden");
      expect(stderr).toContain("keelson: no connection to example.com:443: the policy does not allow example.com");
      expect(stdout + stderr).not.toContain("canary");
    });
  });
});
