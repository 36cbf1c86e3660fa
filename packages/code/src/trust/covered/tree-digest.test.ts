import { mkdir, mkdtemp, realpath, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CoveredFiles } from "./covered-files.ts";
import { treeDigest } from "./tree-digest.ts";

let project: string;
beforeEach(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), "keelson-test-")));
  await mkdir(join(project, "src"));
  await writeFile(join(project, "src/a.ts"), "a");
});
afterEach(() => rm(project, { recursive: true, force: true }));

describe("the digest of a repository", () => {
  it("is the same for the same content, whenever that was written", async () => {
    const before = treeDigest(project);
    await writeFile(join(project, "src/a.ts"), "a");
    await utimes(join(project, "src/a.ts"), 1, 1);
    expect(treeDigest(project)).toBe(before);
  });

  it.each([
    ["a file", () => writeFile(join(project, "src/a.ts"), "b")],
    ["a new file", () => writeFile(join(project, "src/b.ts"), "")],
    ["a new folder", () => mkdir(join(project, "empty"))],
    ["a link to nothing", () => symlink("nowhere", join(project, "link"))],
    ["a file of node_modules", () => writeFile(join(project, "node_modules.js"), "")],
  ])("changes with %s", async (_what, change) => {
    const before = treeDigest(project);
    await change();
    expect(treeDigest(project)).not.toBe(before);
  });

  it("changes with the branch, its commit, and the settings of git, without git", async () => {
    const digests = new Set([treeDigest(project)]);
    await mkdir(join(project, ".git/refs/heads"), { recursive: true });
    for (const [path, content] of [
      [".git/HEAD", "ref: refs/heads/main\n"],
      [".git/refs/heads/main", "1111\n"],
      [".git/refs/heads/main", "2222\n"],
      [".git/config", "[core]\n"],
      [".git/HEAD", "ref: refs/heads/packed\n"],
      [".git/packed-refs", "3333 refs/heads/packed\n"],
    ] as const) {
      await writeFile(join(project, path), content);
      digests.add(treeDigest(project));
    }
    expect(digests.size).toBe(7);
    await writeFile(join(project, ".git/index"), "anything");
    digests.add(treeDigest(project));
    expect(digests.size).toBe(7);
  });

  it("is not made of more files than the limit, and what it would have covered is then never the same", () => {
    expect(treeDigest(project, 2)).toBeDefined();
    expect(treeDigest(project, 1)).toBeUndefined();
    const state = (maxFiles: number): string => {
      const files = new CoveredFiles(project, { maxFiles });
      files.notUnderstood("make guard");
      expect(files.shows().at(-1)).toContain(maxFiles === 1 ? "use --trust for one run" : "you are asked again");
      return JSON.stringify(files.state());
    };
    expect(state(2)).toBe(state(2));
    expect(state(1)).not.toBe(state(1));
  });
});
