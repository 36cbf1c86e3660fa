import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { forgetTrust, readTrusted, trustItems } from "../trust/project-trust.ts";
import { commitFolders, linkedWorktree, mainFolderOf } from "./linked-worktree.ts";

function git(folder: string, ...args: readonly string[]): void {
  const identity = [
    "-c",
    "user.name=T",
    "-c",
    "user.email=t@example.com",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "protocol.file.allow=always",
  ];
  execFileSync("git", [...identity, ...args], { cwd: folder, stdio: "ignore" });
}

function openRepository(): { readonly root: string; readonly main: string; readonly linked: string } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "keelson-linked-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const main = join(root, "main");
  mkdirSync(join(main, "src"), { recursive: true });
  writeFileSync(join(main, "src/a.txt"), "a\n");
  git(main, "init", "-q");
  git(main, "add", "-A");
  git(main, "commit", "-q", "-m", "first");
  git(main, "worktree", "add", "-q", join(root, "linked"));
  return { root, main, linked: join(root, "linked") };
}

describe("linkedWorktree", () => {
  it("finds the repository of a linked worktree, and the folder that one of it stands for", () => {
    const { main, linked } = openRepository();
    expect(linkedWorktree(linked)).toEqual({
      ...{ root: linked, main, gitFolder: join(main, ".git/worktrees/linked"), commonFolder: join(main, ".git") },
    });
    expect([mainFolderOf(join(linked, "src")), mainFolderOf(main), linkedWorktree(main)]).toEqual([join(main, "src"), main, undefined]);
    expect(commitFolders(join(linked, "src"))).toContain(join(main, ".git/refs"));
    expect([commitFolders(main), commitFolders(tmpdir())]).toEqual([[], []]);
  });

  it("does not believe a .git file that the repository knows nothing of, nor one that cannot be read", () => {
    const { root, main, linked } = openRepository();
    const forged = join(root, "forged");
    mkdirSync(forged);
    for (const text of [
      `gitdir: ${join(main, ".git/worktrees/linked")}\n`,
      `gitdir: ${join(main, ".git")}\n`,
      "gitdir: nowhere\n",
      "",
      `gitdir: ${join(main, ".git/worktrees/linked")}\nmore\n`,
    ]) {
      writeFileSync(join(forged, ".git"), text);
      expect([linkedWorktree(forged), mainFolderOf(forged), commitFolders(forged)]).toEqual([undefined, forged, []]);
    }
    rmSync(join(forged, ".git"));
    execFileSync("mkfifo", [join(forged, ".git")]);
    expect(linkedWorktree(forged)).toBeUndefined();
    // A repository of its own with folders like those of a worktree.
    const fake = join(root, "fake/worktrees/linked");
    mkdirSync(fake, { recursive: true });
    writeFileSync(join(fake, "commondir"), `${join(main, ".git")}\n`);
    writeFileSync(join(fake, "gitdir"), `${join(linked, ".git")}\n`);
    writeFileSync(join(linked, ".git"), `gitdir: ${fake}\n`);
    expect(linkedWorktree(linked)).toBeUndefined();
  });

  it("takes the folder of a submodule for the first worktree of a submodule", () => {
    const { root, main } = openRepository();
    git(main, "submodule", "--quiet", "add", main, "library");
    git(join(main, "library"), "worktree", "add", "-q", join(root, "of-library"));
    expect(mainFolderOf(join(root, "of-library/src"))).toBe(join(main, "library/src"));
  });
});

describe("trust in a linked worktree", () => {
  it("holds if the repository is trusted, keeps what is trusted there apart, and is forgotten from either", async () => {
    const { root, main, linked } = openRepository();
    const home = { trust: join(root, "trust.jsonl") };
    const item = (digest: string) => ({ kind: "instructions", path: "CLAUDE.md", digest }) as const;
    await trustItems(home, main, [item("a")], 1);
    await trustItems(home, linked, [item("b")], 2);
    expect([await readTrusted(home, main), await readTrusted(home, linked)]).toEqual([[item("a")], [item("a"), item("b")]]);
    expect(await forgetTrust(home, linked, 3)).toBe(2);
    expect([await readTrusted(home, main), await readTrusted(home, linked)]).toEqual([[], []]);
    await trustItems(home, linked, [item("b")], 4);
    await forgetTrust(home, main, 5);
    expect(await readTrusted(home, linked)).toEqual([item("b")]);
  });
});
