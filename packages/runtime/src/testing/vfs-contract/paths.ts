import type { Vfs } from "@keelson/protocol";
import { expect, it } from "vitest";
import { absolute, failureOf, kindOf, rootOf, textAt, type VfsSubject } from "./create-vfs.ts";
import { describeHostilePaths } from "./hostile-paths.ts";
import { usesOf } from "./uses-of-path.ts";

/** Where paths lead, and where none does. */
export function describePaths({ create, can }: VfsSubject): void {
  const uses = (files: Vfs, path: string): (() => Promise<unknown>)[] => usesOf(files, path, can);

  it("take a file by its relative and its absolute path", async () => {
    const files = await create({ "a/b.txt": "here" });
    for (const path of ["a/b.txt", "./a//b.txt", "a/../a/./b.txt", absolute(files, "a/b.txt")])
      expect(await textAt(files, path)).toBe("here");
    expect((await files.stat("a/b.txt")).path).toBe(absolute(files, "a/b.txt"));
    if (files.realPath === undefined) return;
    for (const path of ["a/b.txt", "a/../a/./b.txt", absolute(files, "a/b.txt")])
      expect(await files.realPath(path)).toBe(absolute(files, "a/b.txt"));
    expect(await files.realPath("new/c.txt")).toBe(absolute(files, "new/c.txt"));
    expect(await failureOf(files.realPath("../a.txt"))).toMatchObject({ kind: "path-traversal" });
  });

  it("never climb out of the root [ER-16] [ET-11]", async () => {
    const files = await create({ "a.txt": "a", "a/b.txt": "b" });
    const root = rootOf(files);
    const above = root === "/" ? "/.." : `${root}/../other`;
    for (const path of ["..", "../a.txt", "a/../../a.txt", "./../../../etc/passwd", above])
      for (const use of uses(files, path)) expect(await failureOf(use())).toMatchObject({ kind: "path-traversal", attempted: path, root });
    expect(await textAt(files, "a.txt")).toBe("a");
  });

  it("hold no NUL, and no name that no disk could hold", async () => {
    const files = await create({ "a.txt": "a" });
    for (const use of uses(files, "a\0.txt")) expect(await failureOf(use())).toMatchObject({ kind: "io", code: "EINVAL" });
    for (const path of ["n".repeat(256), "é".repeat(128), "name/".repeat(1000)])
      for (const use of uses(files, path)) expect(await failureOf(use())).toMatchObject({ kind: "io", code: "ENAMETOOLONG" });
  });

  describeHostilePaths({ create, can });

  it("are told apart by every character", async () => {
    const content = { "a.txt": "small", "b/~": "tilde", "b/*": "star", "b/-rf": "option", "b/a\\b": "backslash", "b/ü\n": "line end" };
    const files = await create(content);
    for (const [path, text] of Object.entries(content)) expect(await textAt(files, path)).toBe(text);
    for (const path of ["b/%7e", "b/a/b", "b/ü"]) expect(await kindOf(files.read(path))).toBe("not-found");
  });

  if (can("pwd", "cd"))
    it("start at the working directory, which is the root at first [MP-03]", async () => {
      const files = await create({ "a/b/c.txt": "c" });
      expect(await files.pwd()).toBe(rootOf(files));
      await files.cd("a/b");
      expect(await files.pwd()).toBe(absolute(files, "a/b"));
      expect(await textAt(files, "c.txt")).toBe("c");
      await files.cd("..");
      expect(await textAt(files, "b/c.txt")).toBe("c");
      expect(await kindOf(files.cd("b/c.txt"))).toBe("not-directory");
      expect(await kindOf(files.cd("missing"))).toBe("not-found");
      expect(await files.pwd()).toBe(absolute(files, "a"));
    });
}
