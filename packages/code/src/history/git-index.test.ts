import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readGitIndex, sameGitIndex } from "./git-index.ts";

describe("readGitIndex", () => {
  let folder: string;
  const git = (...args: readonly string[]): string => execFileSync("git", args, { cwd: folder, encoding: "utf8" });
  const index = (): Buffer => readFileSync(join(folder, ".git", "index"));
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "keelson-index-"));
    git("init", "-q");
    mkdirSync(join(folder, "dir"));
    for (const name of ["a", "dir/b", "dir/a long name of a file that has more than enough characters"])
      writeFileSync(join(folder, name), name);
    git("add", "-A");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("reads versions 2 to 4 of the format", () => {
    const listed = git("ls-files").trim().split("\n");
    for (const version of ["2", "3", "4"]) {
      git("update-index", "--index-version", version);
      expect(readGitIndex(index())?.map(({ path }) => path)).toEqual(listed);
    }
  });

  it("takes two indexes that differ in times alone for the same, and others not", () => {
    const before = index();
    utimesSync(join(folder, "a"), 1_000_000_000, 1_000_000_000);
    git("status");
    expect(index().equals(before)).toBe(false);
    expect(sameGitIndex(before, index())).toBe(true);
    git("update-index", "--assume-unchanged", "a");
    expect(sameGitIndex(before, index())).toBe(false);
    git("update-index", "--no-assume-unchanged", "a");
    writeFileSync(join(folder, "a"), "changed");
    git("add", "a");
    expect(sameGitIndex(before, index())).toBe(false);
  });

  it("reads no index that is cut or is something else", () => {
    const bytes = index();
    for (const cut of [0, 3, 11, 40, bytes.length - 1]) expect(readGitIndex(bytes.subarray(0, cut))).toBeUndefined();
    expect(readGitIndex(Buffer.alloc(200))).toBeUndefined();
  });
});
