import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Executor } from "@keelson/protocol";
import { expect, it, onTestFinished } from "vitest";
import { describeExecutor } from "../../testing/executor-contract.ts";
import type { VfsContent } from "../../testing/vfs-contract/create-vfs.ts";
import { describeVfs } from "../../testing/vfs-contract.ts";
import { createDiskVfs } from "../files/disk-vfs.ts";
import { createMemoryVfs } from "../files/memory-vfs.ts";
import { createProcessExecutor } from "./process-executor.ts";
import { createSandboxVfs, type SandboxVfs } from "./sandbox-vfs.ts";

function sandboxWith(content: VfsContent = {}): SandboxVfs {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "keelson-sandbox-vfs-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(content)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return createSandboxVfs({ files: createDiskVfs({ root }), executor: createProcessExecutor({ cwd: root, killGraceMs: 200 }) });
}

describeVfs("a sandbox", {
  capabilities: ["ls", "read", "write", "edit", "grep", "glob", "pwd", "cd", "rm", "cp", "mv", "exec"],
  create: (content) => sandboxWith(content),
});

describeExecutor("a sandbox", { create: () => sandboxWith(), terminals: true });

it("shows commands and files the same folder, and starts commands where the files are [VT-13]", async () => {
  const sandbox = sandboxWith({ "src/b.txt": "b\n", "src/a.txt": "a\n", "src/deep/c.txt": "c\n" });
  const { stdout } = await sandbox.execute({ program: "cat", args: ["src/a.txt"] });
  expect(stdout).toBe("a\n");
  await sandbox.cd("src");
  expect(await sandbox.pipeline([stage("cat", "b.txt", "a.txt"), stage("sort")])).toMatchObject({ stdout: "a\nb\n", exitCode: 0 });
  expect((await sandbox.execute({ command: "cat c.txt; echo new > d.txt", cwd: "deep" })).stdout).toBe("c\n");
  expect(Buffer.from((await sandbox.read("deep/d.txt")).content).toString()).toBe("new\n");
  const job = await sandbox.jobs.start({ command: "pwd" });
  await sandbox.jobs.ended(job.id);
  expect((await sandbox.jobs.poll(job.id)).text).toBe(`${sandbox.root}/src\n`);
});

it("has an id of its own, or the one it is given [VT-13]", () => {
  const files = createMemoryVfs();
  expect(createSandboxVfs({ files, id: "mine" }).id).toBe("mine");
  expect(createSandboxVfs({ files }).id).not.toBe(createSandboxVfs({ files }).id);
});

it("refuses as unsupported what its executor can't do, and lacks `exec` without one [VT-13]", async () => {
  const refused = { failure: { kind: "unsupported", operation: "exec" } };
  const without = createSandboxVfs({ files: createMemoryVfs() });
  expect(without.capabilities.has("exec")).toBe(false);
  await expect(without.execute({ command: "true" })).rejects.toMatchObject(refused);
  const plain: Executor = {
    execute: async () => ({
      exitCode: 0,
      signal: null,
      stdout: "",
      stderr: "",
      stdoutBytes: 0,
      stderrBytes: 0,
      timedOut: false,
      durationMs: 1,
    }),
  };
  const small = createSandboxVfs({ files: createMemoryVfs(), executor: plain });
  expect(small.capabilities.has("exec")).toBe(true);
  expect(await small.execute({ command: "true" })).toMatchObject({ exitCode: 0 });
  await expect(small.pipeline([stage("true")])).rejects.toMatchObject(refused);
  await expect(small.processes()).rejects.toMatchObject(refused);
  await expect(small.jobs.start({ command: "true" })).rejects.toMatchObject(refused);
  await expect(small.jobs.list()).rejects.toMatchObject(refused);
});

function stage(
  command: string,
  ...args: readonly string[]
): { readonly command: string; readonly args: readonly string[]; readonly stderrToStdout: boolean } {
  return { command, args, stderrToStdout: false };
}
