import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Vfs, VfsError } from "@keelson/protocol";
import { expect, it, onTestFinished } from "vitest";
import { mockStateStore } from "../../testing/mocks/mock-state-store.ts";
import { describeVfs } from "../../testing/vfs-contract.ts";
import { createCompositeVfs } from "./composite-vfs.ts";
import { createDiskVfs, type DiskVfs } from "./disk-vfs.ts";
import { createMemoryVfs } from "./memory-vfs.ts";
import { createStoreVfs } from "./store-vfs.ts";

async function memoryWith(content: { readonly [path: string]: string | Uint8Array }): Promise<Vfs> {
  const files = createMemoryVfs();
  for (const [path, text] of Object.entries(content)) await files.write(path, text);
  return files;
}
function diskWith(content: { readonly [path: string]: string }): DiskVfs {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "keelson-mount-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(content)) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return createDiskVfs({ root });
}
const notes = (): Vfs => createStoreVfs({ store: mockStateStore(), namespace: "notes" });
const textAt = async (files: Vfs, path: string): Promise<string> => Buffer.from((await files.read(path)).content).toString();
const kindOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.catch((reason: unknown) => reason);
  if (!VfsError.is(error)) throw new Error(`expected a VfsError, got ${String(error)}`);
  return error.failure.kind;
};

describeVfs("a mount at the root", {
  capabilities: ["ls", "read", "write", "edit", "grep", "glob", "pwd", "cd", "rm", "cp", "mv"],
  create: async (content) => createCompositeVfs({ mounts: [{ prefix: "/", backend: await memoryWith(content) }] }),
});

it("asks the mount with the longest prefix, name by name, in whatever order they were given [AP-03] [AP-05]", async () => {
  const files = createCompositeVfs({
    mounts: [
      { prefix: "/", backend: await memoryWith({ "storefront/a": "root", "store/deep/a": "hidden" }) },
      { prefix: "/store", backend: await memoryWith({ foo: "store" }) },
      { prefix: "/store/deep/", backend: await memoryWith({ a: "deep" }) },
    ],
  });
  expect(await textAt(files, "/storefront/a")).toBe("root");
  expect(await textAt(files, "/store/foo")).toBe("store");
  expect(await textAt(files, "/store/deep/a")).toBe("deep");
  expect(await kindOf(files.read("/store/storefront/a"))).toBe("not-found");
  expect(() => createCompositeVfs({ mounts: [{ prefix: "a", backend: createMemoryVfs() }] })).toThrow(/begin it with a slash/);
  const twice = [createMemoryVfs(), createMemoryVfs()].map((backend) => ({ prefix: "/a", backend }));
  expect(() => createCompositeVfs({ mounts: twice })).toThrow(/Two mounts/);
});

it("lists mount points in the root and on the way, and gives a mount the path below its prefix [AP-07]", async () => {
  const disk = diskWith({ "src/a.ts": "a" });
  const files = createCompositeVfs({
    mounts: [
      { prefix: "/work/repo", backend: disk },
      { prefix: "/notes", backend: notes() },
    ],
  });
  const names = async (path: string): Promise<string[]> => (await files.ls(path)).map(({ path: told }) => told);
  expect(await names("/")).toEqual(["/notes", "/work"]);
  expect(await names("/work")).toEqual(["/work/repo"]);
  expect(await names("/work/repo")).toEqual(["/work/repo/src"]);
  await files.cd("/work/repo/src");
  expect(await textAt(files, "a.ts")).toBe("a");
  expect(await files.write("b.ts", "b")).toEqual({ path: "/work/repo/src/b.ts", bytesWritten: 1 });
  expect((await files.stat("b.ts")).path).toBe("/work/repo/src/b.ts");
  await expect(files.read("c.ts")).rejects.toMatchObject({
    failure: { kind: "not-found", path: "/work/repo/src/c.ts", message: expect.not.stringContaining(disk.root) },
  });
  expect(await kindOf(files.cd("/other"))).toBe("not-found");
});

it("can do at a path what its mount can, and names the mount that cannot", async () => {
  const files = createCompositeVfs({
    mounts: [
      { prefix: "/notes", backend: notes() },
      { prefix: "/scratch", backend: createMemoryVfs() },
    ],
  });
  expect([...files.capabilitiesAt("/notes/a")].sort()).toEqual(["read", "rm", "write"]);
  expect(files.capabilitiesAt("/scratch").has("edit")).toBe(true);
  await files.write("/notes/a", "a");
  await expect(files.edit("/notes/a", "a", "b")).rejects.toMatchObject({
    failure: { kind: "unsupported", operation: "edit", message: expect.stringContaining("/notes") },
  });
  expect(await kindOf(files.ls("/notes"))).toBe("unsupported");
  expect(await kindOf(files.write("/a", "a"))).toBe("not-found");
  expect(await kindOf(files.rm("/scratch", { recursive: true }))).toBe("operation-denied");
});

it("searches content in the first mount that can, and names in all that can [AP-04]", async () => {
  const files = createCompositeVfs({
    mounts: [
      { prefix: "/notes", backend: notes() },
      { prefix: "/b", backend: diskWith({ "x/one.ts": "needle" }) },
      { prefix: "/a", backend: await memoryWith({ "two.ts": "needle", "three.md": "needle" }) },
    ],
  });
  await files.write("/notes/four.ts", "needle");
  const grepped = async (path?: string): Promise<string[]> =>
    (await files.grep("needle", path === undefined ? {} : { path })).map(({ file }) => file);
  expect(await grepped()).toEqual(["/b/x/one.ts"]);
  expect(await grepped("/a")).toEqual(["/a/three.md", "/a/two.ts"]);
  expect(await kindOf(grepped("/notes"))).toBe("unsupported");
  const globbed = async (pattern: string, path = "/", limit = 100): Promise<string[]> =>
    (await files.glob(pattern, { path, limit })).map((entry) => entry.path);
  expect(await globbed("**/*.ts")).toEqual(["/a/two.ts", "/b/x/one.ts"]);
  expect(await globbed("*")).toEqual(["/a", "/b", "/notes"]);
  expect(await globbed("b/**")).toEqual(["/b/x", "/b/x/one.ts"]);
  expect(await globbed("*.ts", "/b/x")).toEqual(["/b/x/one.ts"]);
  expect(await globbed("**/*.ts", "/", 1)).toEqual(["/a/two.ts"]);
});

it("finds nothing of a mount below another mount that hides it, and finds what a link of a disk leads to", async () => {
  const disk = diskWith({ "src/a.ts": "needle", "tmp/hidden.ts": "needle" });
  symlinkSync("src", join(disk.root, "link"));
  const files = createCompositeVfs({
    mounts: [
      { prefix: "/", backend: disk },
      { prefix: "/tmp", backend: await memoryWith({ "seen.ts": "needle" }) },
    ],
  });
  expect((await files.glob("**/*.ts")).map(({ path }) => path)).toEqual(["/src/a.ts", "/tmp/seen.ts"]);
  expect((await files.grep("needle")).map(({ file }) => file)).toEqual(["/src/a.ts"]);
  expect((await files.glob("*.ts", { path: "/link" })).map(({ path }) => path)).toEqual(["/link/a.ts"]);
  expect((await files.ls("/")).map(({ name }) => name)).toEqual(["link", "src", "tmp"]);
});

it("copies and moves from one mount into another, whole or not at all", async () => {
  const disk = diskWith({ "src/a.ts": "aa", "src/deep/b.ts": "bbb" });
  const files = createCompositeVfs({
    mounts: [
      { prefix: "/repo", backend: disk },
      { prefix: "/tmp", backend: createMemoryVfs({ maxBytes: 12 }) },
      { prefix: "/notes", backend: notes() },
    ],
  });
  expect(await files.cp("/repo/src", "/tmp/copy")).toEqual({ path: "/tmp/copy", bytesTransferred: 5 });
  expect(await textAt(files, "/tmp/copy/deep/b.ts")).toBe("bbb");
  expect(await files.mv("/tmp/copy", "/notes/moved")).toEqual({ path: "/notes/moved", bytesTransferred: 5 });
  expect(await textAt(files, "/notes/moved/a.ts")).toBe("aa");
  expect(await kindOf(files.stat("/tmp/copy"))).toBe("not-found");
  expect(await kindOf(files.cp("/repo/src", "/notes/moved"))).toBe("conflict");
  expect(await kindOf(files.cp("/repo/missing", "/tmp/x"))).toBe("not-found");
  expect(await kindOf(files.mv("/repo/src", "/tmp"))).toBe("operation-denied");
  await files.write("/repo/src/z.ts", "0123456789");
  expect(await kindOf(files.mv("/repo/src", "/tmp/too-much"))).toBe("resource-limit");
  expect(await kindOf(files.stat("/tmp/too-much"))).toBe("not-found");
  expect(await textAt(files, "/repo/src/a.ts")).toBe("aa");
  symlinkSync(".", join(disk.root, "src/loop"));
  expect(await kindOf(files.cp("/repo/src", "/tmp/loop"))).toBe("unsupported");
});
