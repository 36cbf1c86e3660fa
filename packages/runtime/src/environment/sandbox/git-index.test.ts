import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { trackedFiles } from "./git-index.ts";

let folder: string;
const git = (...args: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd: folder, encoding: "utf8" });
beforeEach(() => void (folder = realpathSync(mkdtempSync(join(tmpdir(), "keelson-index-")))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const fill = (): void => {
  for (const path of [".env", "a/b/c.txt", "a/b/d.txt", "long/".repeat(30) + "name", "x".repeat(200), "ä"]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), path);
  }
};

it.each([
  ["version 2", ["init", "-q"], ["update-index", "--index-version=2"]],
  ["version 3", ["init", "-q"], ["add", "-N", "later"]],
  ["version 4", ["init", "-q"], ["update-index", "--index-version=4"]],
  ["SHA-256", ["init", "-q", "--object-format=sha256"], ["status"]],
])("reads the names and blobs of an index of %s as git does", (_name, init, after) => {
  git(...init);
  fill();
  git("add", "-A");
  writeFileSync(join(folder, "later"), "x");
  git(...after);
  const listed = git("ls-files", "-z", "--stage")
    .split("\0")
    .filter((line) => line !== "")
    .map((line) => /^\d+ (\w+) \d\t(.*)$/s.exec(line)?.slice(1) as [string, string])
    .map(([blob, path]) => [Buffer.from(path, "utf8").toString("latin1"), blob]);
  expect(listed.length).toBeGreaterThan(5);
  expect([...trackedFiles(folder, () => true)].toSorted()).toEqual(listed.toSorted());
});

it("takes no file of an index that it does not understand for tracked", () => {
  git("init", "-q");
  fill();
  git("add", "-A");
  expect(trackedFiles(folder, (path) => path === ".env").size).toBe(1);
  git("update-index", "--split-index");
  expect(trackedFiles(folder, () => true).size).toBe(0);
  writeFileSync(join(folder, ".git/index"), "DIRC\0\0\0\x02\0\0\xff\xff");
  expect(trackedFiles(folder, () => true).size).toBe(0);
  rmSync(join(folder, ".git"), { recursive: true });
  expect(trackedFiles(folder, () => true).size).toBe(0);
});
