import { expect, it } from "vitest";
import { absolute, failureOf, kindOf, textAt, type VfsSubject } from "./create-vfs.ts";

const EVERY_BYTE = Uint8Array.from({ length: 1024 }, (_, index) => index % 256);

/** Reading, writing and editing files. */
export function describeContent({ create, can }: VfsSubject): void {
  it("reads the bytes as they are, with a type where the name tells one [VT-03]", async () => {
    const files = await create({ "blob.png": EVERY_BYTE, "empty": "", "text": "\uFEFFé\r\n" });
    const { content, mimeType } = await files.read("blob.png");
    expect(Buffer.compare(content, EVERY_BYTE)).toBe(0);
    expect(mimeType).toBe("image/png");
    expect(await files.read("empty")).toEqual({ content: expect.objectContaining({ byteLength: 0 }) });
    expect(await textAt(files, "text")).toBe("\uFEFFé\r\n");
  });

  it("gives bytes that callers may change", async () => {
    const files = await create({ "a.txt": "original" });
    (await files.read("a.txt")).content.fill(0);
    expect(await textAt(files, "a.txt")).toBe("original");
  });

  it("reads a part of a file, less at its end and nothing behind it", async () => {
    const files = await create({ "blob": EVERY_BYTE, "a/b.txt": "b" });
    if (files.readPart === undefined) return;
    const part = async (start: number, end: number): Promise<number[]> => [
      ...((await files.readPart?.("blob", { start, end }))?.content ?? []),
    ];
    expect(await part(254, 258)).toEqual([254, 255, 0, 1]);
    expect(await part(1022, 5000)).toEqual([254, 255]);
    expect(await part(1024, 1030)).toEqual([]);
    expect(await part(5000, 6000)).toEqual([]);
    expect(await part(7, 7)).toEqual([]);
    expect(await kindOf(files.readPart("missing", { start: 0, end: 1 }))).toBe("not-found");
    expect(await kindOf(files.readPart("a", { start: 0, end: 1 }))).toBe("is-directory");
  });

  it("says what is wrong with a path that is no file [ER-16]", async () => {
    const files = await create({ "a/b.txt": "b" });
    expect(await failureOf(files.read("missing.txt"))).toEqual({
      kind: "not-found",
      path: expect.stringContaining("missing.txt"),
      message: expect.any(String),
    });
    expect(await kindOf(files.read("a"))).toBe("is-directory");
    expect(await kindOf(files.read("."))).toBe("is-directory");
    expect(await kindOf(files.read("a/b.txt/c"))).toBe("not-directory");
    expect(await kindOf(files.stat("missing.txt"))).toBe("not-found");
  });

  it("describes a file and a folder [VT-09]", async () => {
    const files = await create({ "a/b.txt": "12345" });
    expect(await files.stat("a/b.txt")).toMatchObject({ path: absolute(files, "a/b.txt"), size: 5, isDir: false, isSymlink: false });
    expect(await files.stat("a")).toMatchObject({ path: absolute(files, "a"), isDir: true, isSymlink: false });
  });

  it("does nothing once it was told to stop", async () => {
    const files = await create({ "a.txt": "a" });
    const reason = new Error("enough");
    const options = { signal: AbortSignal.abort(reason) };
    await expect(files.read("a.txt", options)).rejects.toBe(reason);
    if (can("write")) await expect(files.write("a.txt", "b", options)).rejects.toBe(reason);
    if (can("rm")) await expect(files.rm("a.txt", options)).rejects.toBe(reason);
    expect(await textAt(files, "a.txt")).toBe("a");
  });

  if (can("write")) {
    it("writes new files and over old ones, makes missing folders, and says what it wrote [VT-04]", async () => {
      const files = await create({});
      expect(await files.write("a/b/c.txt", "héllo")).toEqual({ path: absolute(files, "a/b/c.txt"), bytesWritten: 6 });
      expect(await textAt(files, "a/b/c.txt")).toBe("héllo");
      const bytes = Uint8Array.from(EVERY_BYTE);
      const written = files.write("a/b/c.txt", bytes);
      await written;
      bytes.fill(7);
      expect(Buffer.compare((await files.read("a/b/c.txt")).content, EVERY_BYTE)).toBe(0);
    });

    it("refuses to write over folders and below files", async () => {
      const files = await create({ "a/b.txt": "b" });
      expect(await kindOf(files.write("a", "x"))).toBe("is-directory");
      expect(await kindOf(files.write(".", "x"))).toBe("is-directory");
      expect(await kindOf(files.write("a/b.txt/c", "x"))).toBe("not-directory");
      expect(await textAt(files, "a/b.txt")).toBe("b");
    });

    it("writes with ifUnchanged only over those very bytes", async () => {
      const files = await create({});
      await files.write("a.txt", "one", { ifUnchanged: null });
      expect(await kindOf(files.write("a.txt", "two", { ifUnchanged: null }))).toBe("conflict");
      expect(await kindOf(files.write("a.txt", "two", { ifUnchanged: Buffer.from("other") }))).toBe("conflict");
      expect(await kindOf(files.write("gone.txt", "two", { ifUnchanged: Buffer.from("one") }))).toBe("conflict");
      await files.write("a.txt", "two", { ifUnchanged: Buffer.from("one") });
      expect(await textAt(files, "a.txt")).toBe("two");
    });

    it("lets exactly one of many writers win who saw the same bytes", async () => {
      const files = await create({ "a.txt": "old" });
      const seen = Buffer.from("old");
      const results = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => files.write("a.txt", `${n}`, { ifUnchanged: seen })));
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(await textAt(files, "a.txt")).toBe(`${results.findIndex(({ status }) => status === "fulfilled")}`);
    });
  }

  if (can("edit")) {
    it("replaces the first occurrence and says so; none is zero edits [VT-05]", async () => {
      const files = await create({ "a.txt": "a b a" });
      const path = absolute(files, "a.txt");
      expect(await files.edit("a.txt", "a", "$& c")).toEqual({ path, editsApplied: 1, contentAfter: "$& c b a" });
      expect(await files.edit("a.txt", "x", "y")).toEqual({ path, editsApplied: 0 });
      expect(await textAt(files, "a.txt")).toBe("$& c b a");
      await expect(files.edit("a.txt", "", "y")).rejects.toThrow(/old text is empty/);
      expect(await kindOf(files.edit("missing", "a", "b"))).toBe("not-found");
    });

    it("edits around bytes that are no UTF-8, and loses no edit of many made at once", async () => {
      const files = await create({ "latin.txt": Uint8Array.of(0xe9, 0x61, 0xe9), "count.txt": "0".repeat(20) });
      expect(await files.edit("latin.txt", "a", "b")).toEqual({ path: absolute(files, "latin.txt"), editsApplied: 1 });
      expect([...(await files.read("latin.txt")).content]).toEqual([0xe9, 0x62, 0xe9]);
      await Promise.all(Array.from({ length: 20 }, () => files.edit("count.txt", "0", "1")));
      expect(await textAt(files, "count.txt")).toBe("1".repeat(20));
    });
  }
}
