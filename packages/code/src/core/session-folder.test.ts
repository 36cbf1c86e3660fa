import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { branchOfTags, folderOfTags, folderTags, ownTags } from "./session-folder.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "keelson-tags-")));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("folderTags", () => {
  it("records the folder and the branch that is checked out", () => {
    mkdirSync(join(folder, ".git"));
    writeFileSync(join(folder, ".git/HEAD"), "ref: refs/heads/feature/x\n");
    const tags = folderTags(folder, "/nowhere");
    expect([folderOfTags(tags), branchOfTags(tags), ownTags([...tags, "mine"])]).toEqual([folder, "feature/x", ["mine"]]);
  });

  it("records no branch outside of a repository", () => {
    expect(folderTags(folder, "/nowhere")).toEqual([`folder:${folder}`]);
    expect(branchOfTags(folderTags(folder, "/nowhere"))).toBeUndefined();
  });

  it("takes the last branch of a fork, which has the tags of its parent before its own", () => {
    expect(branchOfTags(["folder:/a", "branch:main", "branch:other"])).toBe("other");
  });
});
