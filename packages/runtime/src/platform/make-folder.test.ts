import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { makeFolder } from "./make-folder.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-make-folder-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("a folder that is made", () => {
  it("comes with those above it, for the given people alone", () => {
    makeFolder(join(folder, "a", "b", "c"), 0o700);
    for (const path of ["a", "a/b", "a/b/c"]) expect(statSync(join(folder, path)).mode & 0o777).toBe(0o700);
  });

  it("and is there already is left as it is", () => {
    makeFolder(join(folder, "there"), 0o755);
    writeFileSync(join(folder, "there", "file"), "");
    makeFolder(join(folder, "there"), 0o700);
    expect(readdirSync(join(folder, "there"))).toEqual(["file"]);
    makeFolder("/", 0o700);
  });

  it("can't be where a file is, under a file, or behind a link that leads nowhere", () => {
    writeFileSync(join(folder, "file"), "");
    symlinkSync(join(folder, "nowhere", "deep"), join(folder, "link"));
    for (const path of ["file", "file/below", "link", "link/below"])
      expect(() => makeFolder(join(folder, path), 0o700)).toThrow(/EEXIST|ENOTDIR|ENOENT/);
  });

  it.runIf(existsSync("/proc/self"))("can't be in a file system that takes none, which is an error and no endless wait", () => {
    expect(() => makeFolder("/proc/keelson/sessions", 0o700)).toThrow(/ENOENT/);
  });
});
