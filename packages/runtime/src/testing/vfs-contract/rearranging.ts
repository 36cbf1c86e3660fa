import { expect, it } from "vitest";
import { absolute, kindOf, textAt, type VfsSubject } from "./create-vfs.ts";

/** Removing, copying and moving. */
export function describeRearranging({ create, can }: VfsSubject): void {
  it("removes a file; a folder only with recursive; never the root", async () => {
    const files = await create({ "a/b/c.txt": "c", "d.txt": "d" });
    expect(await kindOf(files.rm("a"))).toBe("is-directory");
    expect(await textAt(files, "a/b/c.txt")).toBe("c");
    await files.rm("a", { recursive: true });
    expect(await kindOf(files.stat("a"))).toBe("not-found");
    await files.rm("d.txt");
    expect(await kindOf(files.rm("d.txt"))).toBe("not-found");
    expect(await kindOf(files.rm(".", { recursive: true }))).toBe("operation-denied");
  });

  if (can("cp"))
    it("copies files over files, and folders to new places [VT-08]", async () => {
      const files = await create({ "a/b/c.txt": "12345", "d.txt": "d" });
      expect(await files.cp("a", "x/y")).toEqual({ path: absolute(files, "x/y"), bytesTransferred: 5 });
      expect(await textAt(files, "x/y/b/c.txt")).toBe("12345");
      expect(await files.cp("a/b/c.txt", "d.txt")).toEqual({ path: absolute(files, "d.txt"), bytesTransferred: 5 });
      expect(await textAt(files, "d.txt")).toBe("12345");
      expect(await kindOf(files.cp("a", "x/y"))).toBe("conflict");
      expect(await kindOf(files.cp("a", "a/inside"))).toBe("other");
      expect(await kindOf(files.cp("d.txt", "d.txt"))).toBe("other");
      expect(await kindOf(files.cp("d.txt", "a"))).toBe("is-directory");
      expect(await kindOf(files.cp("missing", "no/z"))).toBe("not-found");
      expect(await kindOf(files.stat("no"))).toBe("not-found");
      if (can("write")) {
        await files.write("x/y/b/c.txt", "changed");
        expect(await textAt(files, "a/b/c.txt")).toBe("12345");
      }
    });

  if (can("mv"))
    it("moves files over files and folders to new places, never over a folder [VT-08]", async () => {
      const files = await create({ "a/b/c.txt": "12345", "d.txt": "d", "e/f.txt": "f" });
      expect(await files.mv("a", "x/y")).toMatchObject({ path: absolute(files, "x/y") });
      expect(await textAt(files, "x/y/b/c.txt")).toBe("12345");
      expect(await kindOf(files.stat("a"))).toBe("not-found");
      expect(await files.mv("x/y/b/c.txt", "d.txt")).toEqual({ path: absolute(files, "d.txt"), bytesTransferred: 5 });
      expect(await textAt(files, "d.txt")).toBe("12345");
      expect(await kindOf(files.mv("d.txt", "e"))).toBe("is-directory");
      expect(await kindOf(files.mv("e", "d.txt"))).toBe("not-directory");
      expect(await kindOf(files.mv("e", "e/inside"))).toBe("other");
      expect(await kindOf(files.mv("missing", "no/z"))).toBe("not-found");
      expect(await kindOf(files.mv("e", "."))).toBe("operation-denied");
      await files.mv("d.txt", "d.txt");
      expect(await textAt(files, "d.txt")).toBe("12345");
    });
}
