import { describe, expect, it } from "vitest";
import { isPlainGitConfig, isPlainTodo } from "./plain-git-content.ts";

const CLONE = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	logallrefupdates = true
[remote "origin"]
	url = https://example.com/x.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
	remote = origin
	merge = refs/heads/main
; a comment
[lfs "https://example.com/x.git/info/lfs"]
	access = basic
[user]
	name = "Ada L."
`;

describe("settings of a repository", () => {
  it("are plain as clones have them", () => {
    expect(isPlainGitConfig(CLONE)).toBe(true);
    expect(isPlainGitConfig("")).toBe(true);
    expect(isPlainGitConfig("name = x")).toBe(false);
    expect(isPlainGitConfig(CLONE.replaceAll("\n", "\r\n"))).toBe(true);
  });

  it.each([
    "[core]\nfsmonitor = x",
    "[core] fsmonitor = x",
    "[core]\n\tFsMonitor=x",
    "[core]\nhooksPath = x",
    "[core]\nsshCommand = x",
    "[core]\neditor = x",
    "[core]\npager = x",
    "[core]\nworktree = /home/ada",
    "[core]\nattributesFile = x",
    "[core]\ngitProxy = x",
    "[core]\naskPass = x",
    "[alias]\nst = !x",
    "[include]\npath = x",
    '[includeIf "gitdir:/"]\npath = x',
    '[filter "x"]\nclean = x',
    '[diff "x"]\ntextconv = x',
    "[diff]\nexternal = x",
    '[merge "x"]\ndriver = x',
    "[credential]\nhelper = x",
    "[gpg]\nprogram = x",
    "[uploadpack]\npackObjectsHook = x",
    '[url "x"]\ninsteadOf = y',
    '[remote "o"]\nuploadpack = x',
    '[remote "o"]\nvcs = x',
    '[remote "o"]\nurl = ext::sh -c x',
    '[remote "o"]\nurl = --upload-pack=x',
    '[remote "o"]\nurl = "-x"',
    '[submodule "s"]\nupdate = !x',
    "[sequence]\neditor = x",
    "[protocol]\nallow = always",
    "[user]\nname = a\\\n[core]",
    "[branch.main]\nremote = x",
    "[core\nbare = true",
    '[remote "a\\"b"]\nurl = x',
  ])("are not plain with %j", (text) => {
    expect(isPlainGitConfig(text)).toBe(false);
    expect(isPlainGitConfig(`${CLONE}${text}\n`)).toBe(false);
  });
});

it("steps of a rebase are plain unless they start a program or are not known", () => {
  expect(isPlainTodo("pick 12 a\n  fixup -C 34 b\n# exec x\n\nlabel onto\nmerge -C 1 x\nupdate-ref refs/heads/x\nbreak\nnoop\n")).toBe(
    true,
  );
  for (const line of ["exec x", "x y", "  exec x", "EXEC x", "execute", "unknown 1"])
    expect([line, isPlainTodo(line)]).toEqual([line, false]);
});
