import { expect, it } from "vitest";
import { absolute, kindOf, type VfsSubject } from "./create-vfs.ts";

/** What folders hold. */
export function describeListing({ create, can }: VfsSubject): void {
  it("lists a folder's own entries by name, with type and size [VT-02]", async () => {
    const files = await create({ "b.txt": "12345", "a/inner/deep.txt": "", "B.txt": "", ".hidden": "1" });
    expect(
      (await files.ls(".")).map(({ name, path, isDir, size }) => ({ name, path, isDir, ...(size !== undefined && !isDir && { size }) })),
    ).toEqual([
      { name: ".hidden", path: absolute(files, ".hidden"), isDir: false, size: 1 },
      { name: "B.txt", path: absolute(files, "B.txt"), isDir: false, size: 0 },
      { name: "a", path: absolute(files, "a"), isDir: true },
      { name: "b.txt", path: absolute(files, "b.txt"), isDir: false, size: 5 },
    ]);
    expect((await files.ls("a")).map(({ path }) => path)).toEqual([absolute(files, "a/inner")]);
  });

  it("says why a path cannot be listed", async () => {
    const files = await create({ "a.txt": "a" });
    expect(await kindOf(files.ls("a.txt"))).toBe("not-directory");
    expect(await kindOf(files.ls("missing"))).toBe("not-found");
  });

  if (can("rm"))
    it("still lists a folder whose last file went", async () => {
      const files = await create({ "a/b.txt": "b" });
      await files.rm("a/b.txt");
      expect(await files.ls("a")).toEqual([]);
    });
}
