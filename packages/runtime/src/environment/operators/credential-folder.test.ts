import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";

it("takes away what a killed process left, and nothing of one that lives or of another namespace", async () => {
  const temporary = await mkdtemp(join(tmpdir(), "keelson-test-"));
  onTestFinished(() => rm(temporary, { recursive: true }));
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.resetModules();
  const { makeCredentialFolder } = await import("./credential-folder.ts");
  const first = await makeCredentialFolder();
  expect((await stat(first)).mode & 0o777).toBe(0o700);
  const { pid: dead } = spawnSync("true");
  const named = (pid: number, namespace?: string): string => {
    const [, , of = "", , rest = ""] = basename(first).split("-");
    return `keelson-credentials-${namespace ?? of}-${pid}-${rest}`;
  };
  const [left, alive, foreign] = [named(dead), named(process.ppid), named(dead, "7")];
  for (const name of [left, alive, foreign]) await mkdir(join(temporary, name));
  vi.resetModules();
  const second = await (await import("./credential-folder.ts")).makeCredentialFolder();
  expect(existsSync(join(temporary, left))).toBe(false);
  expect((await readdir(temporary)).sort()).toEqual([basename(first), basename(second), alive, foreign].sort());
});
