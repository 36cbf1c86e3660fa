import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { mockStateStore } from "../../testing/mocks/mock-state-store.ts";
import { describeVfs } from "../../testing/vfs-contract.ts";
import type { VfsContent } from "../../testing/vfs-contract/create-vfs.ts";
import { createCompositeVfs } from "./composite-vfs.ts";
import { createDiskVfs } from "./disk-vfs.ts";
import { createMemoryVfs } from "./memory-vfs.ts";
import { createStoreVfs } from "./store-vfs.ts";
import { createTransferVfs } from "./transfer-vfs.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "keelson-transfers-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));
let made = 0;
function newFolder(): string {
  const folder = join(base, String(++made));
  mkdirSync(folder);
  return folder;
}
const machine = createDiskVfs({ root: newFolder() });
const ALL = ["ls", "read", "write", "edit", "grep", "glob", "pwd", "cd", "rm", "cp", "mv", "upload", "download"] as const;

async function memoryWith(content: VfsContent) {
  const files = createMemoryVfs();
  for (const [path, text] of Object.entries(content)) await files.write(path, text);
  return files;
}

describeVfs("files in memory with transfers", {
  capabilities: ALL,
  machine,
  create: async (content) => createTransferVfs({ files: await memoryWith(content), machine }),
});

describeVfs("a folder of the disk with transfers", {
  capabilities: ALL,
  machine,
  create: async (content) => {
    const files = createDiskVfs({ root: newFolder() });
    for (const [path, text] of Object.entries(content)) await files.write(path, text);
    return createTransferVfs({ files, machine });
  },
});

describeVfs("a state store with transfers", {
  capabilities: ["read", "write", "rm", "upload", "download"],
  machine,
  create: async (content) => {
    const files = createStoreVfs({ store: mockStateStore(), namespace: "notes" });
    for (const [path, text] of Object.entries(content)) await files.write(path, text);
    return createTransferVfs({ files, machine });
  },
});

describeVfs("several file systems as one, of which one has transfers", {
  capabilities: ALL,
  machine,
  create: async (content) =>
    createCompositeVfs({ mounts: [{ prefix: "/", backend: createTransferVfs({ files: await memoryWith(content), machine }) }] }),
});

it("neither reads nor writes through a link that leads out of the folders for transfers", async () => {
  const [inside, outside] = [newFolder(), newFolder()];
  writeFileSync(join(outside, "secret.txt"), "secret");
  symlinkSync(outside, join(inside, "out"));
  symlinkSync(join(outside, "secret.txt"), join(inside, "secret.txt"));
  const files = createTransferVfs({ files: await memoryWith({ "a.txt": "a" }), machine: createDiskVfs({ root: inside }) });
  for (const path of ["out/secret.txt", "secret.txt", join(outside, "secret.txt")]) {
    await expect(files.upload(path, "b.txt"), path).rejects.toMatchObject({ failure: { kind: "path-traversal" } });
    await expect(files.download("a.txt", path), path).rejects.toMatchObject({ failure: { kind: "path-traversal" } });
  }
  expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret");
});

it("offers only what both sides can, and refuses the rest [VT-01] [VT-13]", async () => {
  const readOnly = createDiskVfs({ root: newFolder(), readOnly: true });
  const onlyUploads = createTransferVfs({ files: createMemoryVfs(), machine: readOnly });
  expect([onlyUploads.capabilities.has("upload"), onlyUploads.capabilities.has("download")]).toEqual([true, false]);
  await expect(onlyUploads.download("a", "b")).rejects.toMatchObject({ failure: { kind: "unsupported", operation: "download" } });
  const onlyDownloads = createTransferVfs({ files: readOnly, machine });
  expect([onlyDownloads.capabilities.has("upload"), onlyDownloads.capabilities.has("download")]).toEqual([false, true]);
  await expect(onlyDownloads.upload("a", "b")).rejects.toMatchObject({ failure: { kind: "unsupported", operation: "upload" } });
});
