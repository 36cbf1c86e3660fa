import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { isTracked } from "./is-tracked.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

it("a file is tracked if the index of the repository around it names it, and a folder if it names a file in it", () => {
  const root = mkdtempSync(join(tmpdir(), "keelson-tracked-"));
  folders.push(root);
  mkdirSync(join(root, "packages/a/private"), { recursive: true });
  mkdirSync(join(root, "packages/a/other"));
  for (const path of ["x", "y", "packages/a/private/é"]) writeFileSync(join(root, path), path);
  expect(isTracked(join(root, "x"))).toBe(false);
  execFileSync("git", ["init", "-q"], { cwd: root });
  expect(isTracked(join(root, "x"))).toBe(false);
  execFileSync("git", ["add", "x", "packages"], { cwd: root });
  const tracked = ["x", "y", "none", "packages/a/private", "packages/a/private/é", "packages/a/other", "packages/a/priv"].map((path) =>
    isTracked(join(root, path)),
  );
  expect(tracked).toEqual([true, false, false, true, true, false, false]);
  writeFileSync(join(root, ".git/index"), "DIRC but no index");
  expect(isTracked(join(root, "x"))).toBe(true);
});
