import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { hasBubblewrap } from "./has-bubblewrap.ts";
import { openWorkspace, resultsIn } from "./keelson-process.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const run = (...commands: readonly string[]) => [
  { toolCalls: commands.map((command) => ({ name: "bash", input: { command } })) },
  { text: "Done." },
];

describe("a policy of the command", () => {
  const policy = JSON.stringify({
    permissions: { allow: ["bash(touch *)"] },
    filesystem: { deniedPaths: ["private"] },
    commands: { denied: ["curl"] },
  });

  it("holds for commands and tools, from a file or from the home folder, and not from the project", async () => {
    const files = { "private/key": "canary", "policy.json": policy, "elsewhere.json": policy };
    await using workspace = await openWorkspace(
      [
        {
          toolCalls: [
            { name: "read_file", input: { path: "private/key" } },
            { name: "bash", input: { command: "touch made; cat private/key" } },
          ],
        },
        { text: "Done." },
        ...run("touch made").slice(0, 1),
        ...run("touch by-home; sh -c 'curl x'", "touch by-home"),
      ],
      files,
    );
    const given = await workspace.keelson("-p", "--policy", "elsewhere.json", "go");
    expect(given.code).toBe(0);
    expect(resultsIn(workspace.server.requests.at(-1) as { readonly body: unknown })).toContain('private/key\\", which the policy denies');
    expect(existsSync(join(workspace.project, "made"))).toBe(false);
    expect((await workspace.keelson("-p", "go")).code).toBe(4);
    writeFileSync(join(workspace.home, "policy.json"), policy);
    expect((await workspace.keelson("-p", "go")).code).toBe(0);
    expect(existsSync(join(workspace.project, "by-home"))).toBe(true);
    expect(resultsIn(workspace.server.requests.at(-1) as { readonly body: unknown })).toContain("which the policy denies");
  });

  it("that can't be read lets nothing run, and says which file and member", async () => {
    await using workspace = await openWorkspace(run("touch made"), { "policy.json": '{ "permissions": { "alow": [] } }' });
    const { code, stderr } = await workspace.keelson("-p", "--policy", "policy.json", "go");
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/policy\.json is not understood: it has no "permissions.alow"; did you mean "allow"/),
    ]);
    expect((await workspace.keelson("-p", "--policy", "none.json", "go")).stderr).toContain("there is no such file");
    expect(workspace.server.requests).toHaveLength(0);
  });
});

it("explains what a command may do, with and without a sandbox, and runs nothing", async () => {
  await using workspace = await openWorkspace([], { "policy.json": JSON.stringify({ permissions: { allow: ["bash(npm test*)"] } }) });
  const args = ["permissions", "explain", "--policy", "policy.json", "--deny", "bash(git push*)"];
  const { code, stdout } = await workspace.keelson(...args, "--", "npm test; touch made; touch /etc/x; git push");
  expect(code).toBe(0);
  const [bare = "", sandboxed = ""] = stdout.split("\n\n");
  expect(bare).toMatch(/^Without a sandbox: deny\n/);
  expect(bare).toMatch(/allow command npm test\n +The permission rule "bash\(npm test\*\)" allows it/);
  expect(bare).toMatch(/ask {3}command touch made\n/);
  expect(bare).toMatch(/deny {2}command git push\n/);
  expect(sandboxed).toMatch(/allow command touch made\n/);
  expect(sandboxed).toMatch(/deny {2}write {3}\/etc\/x\n.*only .* can be written/);
  expect(existsSync(join(workspace.project, "made"))).toBe(false);
  const json = JSON.parse((await workspace.keelson(...args, "--json", "--", "npm test")).stdout) as {
    bare: { decision: { behavior: string } };
  };
  expect(json.bare.decision.behavior).toBe("allow");
});

it("explains what a command may destroy for good, and which rule allows that", async () => {
  await using workspace = await openWorkspace([], { ".gitignore": "build/\n", ".git/HEAD": "ref: refs/heads/main\n", "build/x": "x" });
  const explained = async (...args: readonly string[]): Promise<string> =>
    (await workspace.keelson("permissions", "explain", "--allow", "bash(rm **)", ...args, "--", "rm -rf build")).stdout;
  expect(await explained()).toMatch(
    /^Without a sandbox: ask\n.*may destroy what nothing can bring back[^]*ask {3}loss {4}build \(1 file\): git ignores it[^]*In a sandbox: ask\n/,
  );
  expect(await explained("--allow", "lose(build)")).toMatch(/^Without a sandbox: allow\n/);
  expect(existsSync(join(workspace.project, "build/x"))).toBe(true);
});

it("with --sandbox and no bubblewrap, nothing runs", async () => {
  await using workspace = await openWorkspace(run("touch made"));
  const { code, stderr } = await workspace.start(["-p", "--sandbox", "go"], { env: { PATH: workspace.project } }).finished;
  expect([code, stderr]).toEqual([1, expect.stringContaining("install bubblewrap")]);
  expect(workspace.server.requests).toHaveLength(0);
});

describe.skipIf(!hasBubblewrap)(hasBubblewrap ? "the same file" : "the same file (skipped: bubblewrap is not installed)", () => {
  it("confines keelson sandbox, whatever rules it holds for tools", async () => {
    const policy = { permissions: { allow: ["bash"] }, filesystem: { deniedPaths: ["private"] } };
    await using workspace = await openWorkspace([], { "private/key": "canary", "policy.json": JSON.stringify(policy) });
    const { code, stdout } = await workspace.keelson("sandbox", "--policy", "policy.json", "--", "cat", "private/key");
    expect([code, stdout]).toEqual([1, ""]);
  });
});

describe.skipIf(!hasBubblewrap)(hasBubblewrap ? "in a sandbox" : "in a sandbox (skipped: bubblewrap is not installed)", () => {
  it("commands need no question and stay inside; what it refuses is denied, sensitive files are asked about", async () => {
    await using workspace = await openWorkspace(
      [
        ...run("X=touch; $X made && eval 'echo more >> made'", "touch /usr/new", "find . -name made | xargs -I% sh -c 'cp % copied'"),
        ...run("cat .env"),
      ],
      { ".env": "A=1" },
    );
    const { code } = await workspace.keelson("-p", "--sandbox", "go");
    expect(code).toBe(0);
    expect(readFileSync(join(workspace.project, "copied"), "utf8")).toBe("more\n");
    const told = resultsIn(workspace.server.requests.at(-1) as { readonly body: unknown });
    expect(told).toContain("The sandbox that it would run in refuses it");
    expect(JSON.stringify(workspace.server.requests[0])).toContain("Commands run in a sandbox");
    expect((await workspace.keelson("-p", "--sandbox", "go")).code).toBe(4);
  });
});
