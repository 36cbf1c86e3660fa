import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { VfsError, type VfsFailure } from "@keelson/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDiskVfs, type DiskVfs } from "./disk-vfs.ts";

let base: string;
let root: string;
let outside: string;
let files: DiskVfs;

beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "keelson-vfs-")));
  root = join(base, "root");
  outside = join(base, "outside");
  fs.mkdirSync(root);
  fs.mkdirSync(outside);
  fs.writeFileSync(join(outside, "secret.txt"), "secret");
  files = createDiskVfs({ root });
});
afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

const put = (path: string, content: string | Uint8Array = ""): void => {
  fs.mkdirSync(join(root, path, ".."), { recursive: true });
  fs.writeFileSync(join(root, path), content);
};
const text = (path: string): string => fs.readFileSync(join(root, path), "utf8");
async function failure(work: Promise<unknown>): Promise<VfsFailure> {
  const error = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!VfsError.is(error)) throw new Error(`expected a VfsError, got ${String(error)}`);
  return error.failure;
}
const failures = (works: readonly Promise<unknown>[]): Promise<VfsFailure[]> => Promise.all(works.map(failure));
const strayFiles = (folder = root): string[] => fs.readdirSync(folder).filter((name) => name.startsWith(".keelson-"));

describe("paths", () => {
  it.each(["../outside/secret.txt", "a/../../outside/secret.txt", "/etc/passwd", "..", "../root-sibling"])(
    "%s does not leave the root",
    async (path) => {
      for (const found of await failures([
        files.read(path),
        files.stat(path),
        files.ls(path),
        files.write(path, "x"),
        files.cd(path),
        files.rm(path),
        files.glob("*", { path }),
        files.grep("x", { path }),
        files.cp(path, "y"),
        files.mv("y", path),
      ]))
        expect(found).toMatchObject({ kind: "path-traversal", attempted: path, root });
    },
  );

  it("never leave the root, whatever they are made of [ER-16]", async () => {
    put("a/b/file.txt", "inside");
    fs.symlinkSync(outside, join(root, "a/out"));
    fs.symlinkSync("..", join(root, "a/up"));
    fs.symlinkSync("../../..", join(root, "a/b/high"));
    const piece = fc.constantFrom("a", "b", "out", "up", "high", "..", ".", "", "secret.txt", "file.txt", "outside", "root", "~");
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 7 }), fc.boolean(), async (pieces, absolute) => {
        const path = absolute ? `${root}/${pieces.join("/")}` : pieces.join("/");
        const content = await files.read(path).then(
          (read) => Buffer.from(read.content).toString(),
          () => "",
        );
        expect(content).not.toContain("secret");
        const resolved = await Promise.resolve()
          .then(() => files.resolve(path))
          .catch(() => root);
        expect(resolved === root || resolved.startsWith(`${root}/`)).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it("that are links to the outside are refused for reading, writing and listing", async () => {
    fs.symlinkSync(join(outside, "secret.txt"), join(root, "link.txt"));
    fs.symlinkSync(outside, join(root, "folder"));
    fs.symlinkSync(join(outside, "not-yet.txt"), join(root, "dangling.txt"));
    for (const found of await failures([
      files.read("link.txt"),
      files.write("link.txt", "x"),
      files.edit("link.txt", "secret", "x"),
      files.ls("folder"),
      files.read("folder/secret.txt"),
      files.write("folder/new.txt", "x"),
      files.write("dangling.txt", "x"),
      files.write("folder/deep/er.txt", "x"),
    ]))
      expect(found.kind).toBe("path-traversal");
    expect(fs.readdirSync(outside)).toEqual(["secret.txt"]);
    expect(fs.readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret");
  });

  it("that are links inside the root lead to their target, also when that is yet to be made", async () => {
    put("real/file.txt", "one");
    fs.symlinkSync("real", join(root, "folder"));
    fs.symlinkSync("real/new.txt", join(root, "dangling"));
    await files.write("folder/file.txt", "two");
    await files.write("dangling", "made");
    expect(text("real/file.txt")).toBe("two");
    expect(text("real/new.txt")).toBe("made");
    expect(fs.lstatSync(join(root, "dangling")).isSymbolicLink()).toBe(true);
    expect(files.resolve("folder/file.txt")).toBe(join(root, "real/file.txt"));
  });

  it("that run in circles end in an error", async () => {
    fs.symlinkSync("loop-b", join(root, "loop-a"));
    fs.symlinkSync("loop-a", join(root, "loop-b"));
    expect(await failure(files.read("loop-a"))).toMatchObject({ kind: "io", code: "ELOOP" });
  });

  it("may be given through a link to the root itself, and through allowed folders", async () => {
    put("file.txt", "x");
    fs.symlinkSync(root, join(base, "door"));
    const through = createDiskVfs({ root: join(base, "door"), allowed: [outside] });
    expect(through.root).toBe(root);
    expect((await through.stat(join(base, "door/file.txt"))).path).toBe(join(root, "file.txt"));
    expect(Buffer.from((await through.read(join(outside, "secret.txt"))).content).toString()).toBe("secret");
    expect((await failure(through.read(join(base, "x")))).kind).toBe("path-traversal");
  });

  it("start at the working directory, which each instance has for itself", async () => {
    put("sub/file.txt", "x");
    const other = createDiskVfs({ root });
    await files.cd("sub");
    expect(await files.pwd()).toBe(join(root, "sub"));
    expect(await other.pwd()).toBe(root);
    expect((await files.stat("file.txt")).path).toBe(join(root, "sub/file.txt"));
    await files.cd("..");
    expect((await failure(files.cd(".."))).kind).toBe("path-traversal");
    expect((await failure(files.cd("sub/file.txt"))).kind).toBe("not-directory");
  });

  it("cannot smuggle a NUL", async () => {
    expect(await failure(files.read("a\0b"))).toMatchObject({ kind: "io", code: "EINVAL" });
  });
});

describe("a folder swapped for a link while calls run", () => {
  it("never lets a read or a write through to the outside", async () => {
    fs.mkdirSync(join(outside, "deep"));
    fs.writeFileSync(join(outside, "deep/file.txt"), "secret");
    put("real/deep/file.txt", "inside");
    const stopping = new AbortController();
    const swapping = (async () => {
      // A step may fail: a write under test makes missing folders at the same moment.
      const attempt = (step: () => void): void => {
        try {
          step();
        } catch {
          // the next round begins anew
        }
      };
      const place = join(root, "place");
      while (!stopping.signal.aborted) {
        if (!fs.existsSync(join(root, "real"))) put("real/deep/file.txt", "inside");
        attempt(() => fs.rmSync(place, { recursive: true, force: true }));
        attempt(() => fs.symlinkSync(outside, place));
        await new Promise(setImmediate);
        attempt(() => fs.rmSync(place, { recursive: true, force: true }));
        attempt(() => fs.renameSync(join(root, "real"), place));
        await new Promise(setImmediate);
        attempt(() => fs.renameSync(place, join(root, "real")));
      }
    })();
    const contents = new Set<string>();
    for (let round = 0; round < 300; round++) {
      await files.read("place/deep/file.txt").then(
        (read) => contents.add(Buffer.from(read.content).toString()),
        () => {},
      );
      await files.write("place/deep/file.txt", "inside").catch(() => {});
    }
    stopping.abort();
    await swapping;
    expect([...contents].filter((content) => content !== "inside")).toEqual([]);
    expect(fs.readFileSync(join(outside, "deep/file.txt"), "utf8")).toBe("secret");
    expect(fs.readdirSync(join(outside, "deep"))).toEqual(["file.txt"]);
  });
});

describe("reading", () => {
  it("gives the bytes as they are, with a type where the name tells one [VT-03]", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        await files.write("blob.png", bytes);
        const read = await files.read("blob.png");
        expect(Buffer.compare(read.content, bytes)).toBe(0);
        expect(read.mimeType).toBe("image/png");
      }),
      { numRuns: 30 },
    );
  });

  it("says what is wrong with a path that is no file", async () => {
    put("file.txt");
    execFileSync("mkfifo", [join(root, "pipe")]);
    expect(await failure(files.read("missing/file.txt"))).toMatchObject({ kind: "not-found" });
    expect(await failure(files.read("."))).toMatchObject({ kind: "is-directory", path: root });
    expect(await failure(files.read("file.txt/below"))).toMatchObject({ kind: "not-directory" });
    expect(await failure(files.read("pipe"))).toMatchObject({ kind: "unsupported" }); // and does not wait for a writer
  });

  it("refuses a file over the limit, naming it", async () => {
    put("big.txt", "0123456789");
    expect(await failure(createDiskVfs({ root, maxReadBytes: 9 }).read("big.txt"))).toMatchObject({
      kind: "resource-limit",
      limit: "maxReadBytes",
    });
  });
});

describe("writing", () => {
  it("makes the missing folders and says what it wrote [VT-04]", async () => {
    expect(await files.write("a/b/c.txt", "héllo")).toEqual({ path: join(root, "a/b/c.txt"), bytesWritten: 6 });
    expect(text("a/b/c.txt")).toBe("héllo");
  });

  it("reads a part of a file that is too large for a whole read, of no pipe, and of no more than it may", async () => {
    put("big.txt", "0123456789abcdef");
    const small = createDiskVfs({ root, maxReadBytes: 9 });
    expect(Buffer.from((await small.readPart?.("big.txt", { start: 8, end: 12 }))?.content ?? "").toString()).toBe("89ab");
    expect(await failure(small.readPart?.("big.txt", { start: 0, end: 10 }) ?? Promise.resolve())).toMatchObject({
      kind: "resource-limit",
    });
    execFileSync("mkfifo", [join(root, "pipe")]);
    expect(await failure(small.readPart?.("pipe", { start: 0, end: 4 }) ?? Promise.resolve())).toMatchObject({ kind: "unsupported" });
  });

  it("tells by the time of change that a file changed whose other times and size were put back", async () => {
    put("a.txt", "one");
    fs.utimesSync(join(root, "a.txt"), 1000, 1000);
    const before = await files.stat("a.txt");
    const soon = (before.changed ?? 0) + 20;
    while (Date.now() < soon) await new Promise((resolve) => setImmediate(resolve));
    put("a.txt", "two");
    fs.utimesSync(join(root, "a.txt"), 1000, 1000);
    const after = await files.stat("a.txt");
    expect(after).toMatchObject({ size: 3, modified: before.modified, inode: before.inode });
    expect(after.changed).toBeGreaterThan(before.changed ?? Number.POSITIVE_INFINITY);
  });

  it("keeps the mode of the file, and leaves nothing else behind", async () => {
    put("run.sh", "old");
    fs.chmodSync(join(root, "run.sh"), 0o751);
    await files.write("run.sh", "new");
    expect(fs.statSync(join(root, "run.sh")).mode & 0o7777).toBe(0o751);
    expect(strayFiles()).toEqual([]);
  });

  it("shows the old bytes or the new ones, never a mixture", async () => {
    const contents = ["a".repeat(300_000), "b".repeat(300_000)];
    put("file.txt", contents[0]);
    const stopping = new AbortController();
    const seen = new Set<string>();
    const watching = (async () => {
      while (!stopping.signal.aborted) {
        seen.add([...new Set(Buffer.from((await files.read("file.txt")).content).toString())].join(""));
      }
    })();
    for (let round = 0; round < 20; round++) await files.write("file.txt", contents[(round + 1) % 2] as string);
    stopping.abort();
    await watching;
    expect([...seen].every((letters) => letters === "a" || letters === "b")).toBe(true);
  });

  it("refuses folders and what is no file", async () => {
    fs.mkdirSync(join(root, "folder"));
    execFileSync("mkfifo", [join(root, "pipe")]);
    put("file.txt");
    expect((await failure(files.write("folder", "x"))).kind).toBe("is-directory");
    expect((await failure(files.write(".", "x"))).kind).toBe("is-directory");
    expect((await failure(files.write("pipe", "x"))).kind).toBe("unsupported");
    expect((await failure(files.write("file.txt/x", "x"))).kind).toBe("not-directory");
  });

  it("writes with ifUnchanged only over those very bytes", async () => {
    await files.write("file.txt", "one", { ifUnchanged: null });
    expect((await failure(files.write("file.txt", "two", { ifUnchanged: null }))).kind).toBe("conflict");
    expect((await failure(files.write("file.txt", "two", { ifUnchanged: Buffer.from("other") }))).kind).toBe("conflict");
    expect((await failure(files.write("gone.txt", "two", { ifUnchanged: Buffer.from("one") }))).kind).toBe("conflict");
    await files.write("file.txt", "two", { ifUnchanged: Buffer.from("one") });
    expect(text("file.txt")).toBe("two");
    expect(strayFiles()).toEqual([]);
  });

  it("lets exactly one of many writers make a file that must not exist", async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => createDiskVfs({ root }).write("new.txt", String(index), { ifUnchanged: null })),
    );
    expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
    expect(text("new.txt")).toBe(String(results.findIndex((result) => result.status === "fulfilled")));
  });

  it("loses no edit of many made at once, also through several instances", async () => {
    put("count.txt", "0".repeat(30));
    await Promise.all(Array.from({ length: 30 }, () => createDiskVfs({ root }).edit("count.txt", "0", "1")));
    expect(text("count.txt")).toBe("1".repeat(30));
  });

  it("refuses to replace a read-only file, also for the superuser", async () => {
    put("locked.txt", "old");
    fs.chmodSync(join(root, "locked.txt"), 0o444);
    const refusal = await failure(files.write("locked.txt", "new"));
    expect(refusal.kind).toBe("permission-denied");
    expect(refusal.message).toMatch(/locked\.txt is read-only \(mode 444\); it was not changed\..*chmod u\+w/);
    expect(text("locked.txt")).toBe("old");
  });

  it("refuses to replace a file with several hard links, because the others would keep the old content", async () => {
    put("one.txt", "old");
    fs.linkSync(join(root, "one.txt"), join(root, "two.txt"));
    expect((await files.stat("one.txt")).links).toBe(2);
    const refusal = await failure(files.write("one.txt", "new"));
    expect(refusal.kind).toBe("operation-denied");
    expect(refusal.message).toMatch(/one of 2 names \(hard links\)/);
    expect((await failure(files.edit("two.txt", "old", "new"))).kind).toBe("operation-denied");
    expect([text("one.txt"), text("two.txt")]).toEqual(["old", "old"]);
    fs.rmSync(join(root, "two.txt"));
    await files.write("one.txt", "new");
    expect(text("one.txt")).toBe("new");
    expect(strayFiles()).toEqual([]);
  });
});

describe("a full disk", () => {
  const mounted = (): boolean => {
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "none", root], { stdio: "ignore" });
      return true;
    } catch {
      return false; // not for us to mount here
    }
  };

  it("is told with its code, and the file stays as it was", async (context) => {
    if (!mounted()) return context.skip();
    try {
      await files.write("file.txt", "old");
      expect(await failure(files.write("file.txt", Buffer.alloc(200_000)))).toMatchObject({
        kind: "io",
        code: "ENOSPC",
        message: expect.stringContaining("Free some space"),
      });
      expect(await failure(files.write("other.txt", Buffer.alloc(200_000)))).toMatchObject({ kind: "io", code: "ENOSPC" });
      expect(fs.readdirSync(root)).toEqual(["file.txt"]);
      expect(text("file.txt")).toBe("old");
    } finally {
      execFileSync("umount", [root]);
    }
  });
});

describe("editing", () => {
  it("replaces the first occurrence and says so; none is zero edits [VT-05]", async () => {
    put("file.txt", "a b a");
    expect(await files.edit("file.txt", "a", "c")).toEqual({ path: join(root, "file.txt"), editsApplied: 1, contentAfter: "c b a" });
    expect(await files.edit("file.txt", "x", "y")).toEqual({ path: join(root, "file.txt"), editsApplied: 0 });
    expect(text("file.txt")).toBe("c b a");
    await expect(files.edit("file.txt", "", "y")).rejects.toThrow(/old text is empty/);
  });

  it("leaves bytes that are no UTF-8 alone", async () => {
    put("latin.txt", Buffer.from([0xe9, 0x20, 0x61, 0x20, 0xe9]));
    await files.edit("latin.txt", "a", "b");
    expect([...fs.readFileSync(join(root, "latin.txt"))]).toEqual([0xe9, 0x20, 0x62, 0x20, 0xe9]);
  });
});

describe("listing", () => {
  it("names entries in order, with type, size and time [VT-02]", async () => {
    put("b.txt", "12345");
    put("a/inner.txt");
    fs.symlinkSync("a", join(root, "link"));
    fs.symlinkSync(outside, join(root, "out"));
    const entries = await files.ls(".");
    expect(entries.map(({ name, isDir, size }) => ({ name, isDir, size }))).toEqual([
      { name: "a", isDir: true, size: undefined },
      { name: "b.txt", isDir: false, size: 5 },
      { name: "link", isDir: true, size: undefined },
      { name: "out", isDir: false, size: undefined },
    ]);
    expect(entries[1]).toMatchObject({ path: join(root, "b.txt"), modified: Math.trunc(fs.statSync(join(root, "b.txt")).mtimeMs) });
    expect((await failure(files.ls("b.txt"))).kind).toBe("not-directory");
  });

  it("describes one path [VT-09]", async () => {
    put("file.txt", "123");
    fs.chmodSync(join(root, "file.txt"), 0o640);
    fs.symlinkSync("file.txt", join(root, "link"));
    expect(await files.stat("file.txt")).toEqual({
      path: join(root, "file.txt"),
      size: 3,
      isDir: false,
      isSymlink: false,
      permissions: 0o640,
      modified: expect.any(Number),
      changed: expect.any(Number),
      inode: fs.statSync(join(root, "file.txt")).ino,
      links: 1,
    });
    expect(await files.stat("link")).toMatchObject({ path: join(root, "file.txt"), isSymlink: true, size: 3 });
    expect((await failure(files.stat("missing"))).kind).toBe("not-found");
  });
});

describe("glob", () => {
  it("finds entries in the order of paths, does not follow links, and stops at the limit [VT-08]", async () => {
    for (const path of ["src/b.ts", "src/a/c.ts", "src/a.ts", "readme.md", ".hidden/x.ts"]) put(path, "12");
    fs.symlinkSync(root, join(root, "src/loop"));
    const found = (await files.glob("**/*.ts")).map((entry) => entry.path.slice(root.length + 1));
    expect(found).toEqual([".hidden/x.ts", "src/a/c.ts", "src/a.ts", "src/b.ts"]);
    expect(await files.glob("*.ts", { path: "src", limit: 1 })).toEqual([{ path: join(root, "src/a.ts"), isDir: false, size: 2 }]);
    expect(await files.glob("src/*")).toContainEqual({ path: join(root, "src/a"), isDir: true });
  });
});

describe("grep", () => {
  beforeEach(() => {
    put("src/a.ts", "one\nTwo é two\nthree\ntwo\n");
    put("src/b.py", "two\r\nfour\r\n");
    put("binary.bin", Buffer.from([0x74, 0x77, 0x6f, 0, 1]));
  });
  const short = (matches: readonly { file: string; lineNumber: number; column: number; lineContent: string }[]) =>
    matches.map(({ file, lineNumber, column, lineContent }) => `${file.slice(root.length + 1)}:${lineNumber}:${column}:${lineContent}`);

  it("gives lines with the byte offset of the match, and no line numbers unless asked [VT-06] [GR-05]", async () => {
    expect(short(await files.grep("two"))).toEqual(["src/a.ts:0:7:Two é two", "src/a.ts:0:0:two", "src/b.py:0:0:two"]);
    expect(short(await files.grep("two", { lineNumbers: true, path: "src/a.ts" }))).toEqual(["src/a.ts:2:7:Two é two", "src/a.ts:4:0:two"]);
  });

  it("counts per file, or names files only [VT-07] [GR-04]", async () => {
    expect(await files.grep("two", { outputMode: "count", caseInsensitive: true })).toMatchObject([
      { lineNumber: 2, lineContent: "2" },
      { lineNumber: 1, lineContent: "1" },
    ]);
    expect(short(await files.grep("two", { outputMode: "files-with-matches" }))).toEqual(["src/a.ts:0:0:", "src/b.py:0:0:"]);
  });

  it("shows context, the symmetric one over the others [GR-01]", async () => {
    const [match] = await files.grep("three", { beforeContext: 9, context: 1 });
    expect(match).toMatchObject({ before: ["Two é two"], after: ["two"] });
    expect(await files.grep("three", { afterContext: 1 })).toMatchObject([{ before: [], after: ["two"] }]);
  });

  it("narrows by glob, type, and number, inverts, and takes text as it stands [GR-03]", async () => {
    expect(short(await files.grep("two", { glob: "*.py" }))).toEqual(["src/b.py:0:0:two"]);
    expect(short(await files.grep("two", { glob: "src/*.py" }))).toEqual(["src/b.py:0:0:two"]);
    expect(short(await files.grep("two", { fileType: "ts" }))).toHaveLength(2);
    expect(short(await files.grep("two", { fileType: "python" }))).toHaveLength(1);
    expect(await files.grep("two", { maxMatches: 2 })).toHaveLength(2);
    expect(short(await files.grep("two", { invert: true, path: "src/b.py" }))).toEqual(["src/b.py:0:0:four"]);
    expect(await files.grep("t.o", { fixedString: true })).toEqual([]);
    expect(await files.grep("two", { path: "binary.bin" })).toEqual([]);
  });

  it("spans lines when asked, one hit for matches that share a line", async () => {
    expect(short(await files.grep("one.*two\nthree", { multiline: true, lineNumbers: true }))).toEqual([
      "src/a.ts:1:0:one\nTwo é two\nthree",
    ]);
    expect(short(await files.grep("one\nTwo", { multiline: true, invert: true, path: "src/a.ts" }))).toEqual([
      "src/a.ts:0:0:three",
      "src/a.ts:0:0:two",
    ]);
  });

  it("starts at the working directory when no path is given [GR-02]", async () => {
    await files.cd("src");
    put("top.ts", "two");
    expect(await files.grep("two")).toHaveLength(3);
  });

  it("says why a pattern is invalid", async () => {
    expect(await failure(files.grep("(unclosed"))).toMatchObject({
      kind: "other",
      message: expect.stringMatching(/not a valid regular expression.*fixedString/s),
    });
  });
});

describe("removing, copying, moving", () => {
  it("removes a file; a folder only with recursive; a link, not its target", async () => {
    put("folder/inner/file.txt", "x");
    fs.symlinkSync(outside, join(root, "folder/out"));
    expect((await failure(files.rm("folder"))).kind).toBe("is-directory");
    await files.rm("folder", { recursive: true });
    expect(fs.readdirSync(root)).toEqual([]);
    expect(fs.readdirSync(outside)).toEqual(["secret.txt"]);
    expect((await failure(files.rm("folder"))).kind).toBe("not-found");
    expect((await failure(files.rm(".", { recursive: true }))).kind).toBe("operation-denied");
  });

  it("copies files and folders, modes and links included", async () => {
    put("from/a.sh", "12345");
    fs.chmodSync(join(root, "from/a.sh"), 0o755);
    fs.symlinkSync("a.sh", join(root, "from/link"));
    expect(await files.cp("from", "deep/to")).toEqual({ path: join(root, "deep/to"), bytesTransferred: 5 });
    expect(text("deep/to/link")).toBe("12345");
    expect(fs.lstatSync(join(root, "deep/to/link")).isSymbolicLink()).toBe(true);
    expect(fs.statSync(join(root, "deep/to/a.sh")).mode & 0o777).toBe(0o755);
    expect((await failure(files.cp("from", "deep/to"))).kind).toBe("conflict");
    expect((await failure(files.cp("from", "from/inner"))).kind).toBe("other");
    expect((await failure(files.cp("missing", "x"))).kind).toBe("not-found");
  });

  it("moves, replacing a file but not a folder", async () => {
    put("a.txt", "a");
    put("b.txt", "b");
    put("folder/c.txt", "c");
    fs.symlinkSync(join(outside, "secret.txt"), join(root, "link"));
    await files.mv("a.txt", "b.txt");
    expect(text("b.txt")).toBe("a");
    expect((await failure(files.mv("b.txt", "folder"))).kind).toBe("is-directory");
    await files.mv("link", "moved-link");
    expect(fs.readlinkSync(join(root, "moved-link"))).toBe(join(outside, "secret.txt"));
    await files.mv("folder", "new/place");
    expect(text("new/place/c.txt")).toBe("c");
    expect((await failure(files.mv("new", "new/inner"))).kind).toBe("other");
    expect((await failure(files.mv("gone", "x"))).kind).toBe("not-found");
  });
});

describe("capabilities", () => {
  it("are what the file system can do; the rest is refused as unsupported [VT-01] [VT-13]", async () => {
    put("file.txt", "x");
    const readOnly = createDiskVfs({ root, readOnly: true });
    expect([...readOnly.capabilities].sort()).toEqual(["cd", "glob", "grep", "ls", "pwd", "read"]);
    for (const found of await failures([
      readOnly.write("a", "x"),
      readOnly.edit("file.txt", "x", "y"),
      readOnly.rm("file.txt"),
      readOnly.cp("file.txt", "b"),
      readOnly.mv("file.txt", "b"),
      files.upload("a", "b"),
      files.download("a", "b"),
    ]))
      expect(found.kind).toBe("unsupported");
    expect(fs.readdirSync(root)).toEqual(["file.txt"]);
    expect(files.capabilities.has("write")).toBe(true);
  });

  it("need a root that is there", () => {
    expect(() => createDiskVfs({ root: join(base, "missing") })).toThrow(VfsError);
  });
});

it("leaves no file descriptor open, whatever went wrong", async (context) => {
  if (process.platform !== "linux") return context.skip();
  const count = (): number => fs.readdirSync("/proc/self/fd").length;
  put("a/file.txt", "x");
  fs.symlinkSync(outside, join(root, "out"));
  const before = count();
  for (let round = 0; round < 20; round++) {
    await Promise.allSettled([
      files.read("a"),
      files.read("a/none"),
      files.read("out/secret.txt"),
      files.ls("a/file.txt"),
      files.write("a", "x"),
      files.write("a/file.txt", "y", { ifUnchanged: null }),
      files.cp("a", "a/b"),
      files.grep("x"),
      files.glob("**"),
      files.rm("nope"),
      files.mv("nope", "x/y/z"),
    ]);
  }
  expect(count()).toBeLessThanOrEqual(before);
});
