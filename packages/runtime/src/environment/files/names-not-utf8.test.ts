import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createDiskVfs } from "./disk-vfs.ts";

// Linux takes any bytes for a name; elsewhere the system refuses these.
const isLinux = process.platform === "linux";
const bytes = (...parts: readonly (string | number)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.of(part))));

function folderWithOddNames(): string {
  const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "keelson-names-")));
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
  fs.mkdirSync(bytes(root, "/a/folder-", 0xe9), { recursive: true });
  fs.writeFileSync(bytes(root, "/a/folder-", 0xe9, "/file-", 0xff), "content");
  fs.writeFileSync(bytes(root, "/a/file-", 0xe9), "one");
  fs.writeFileSync(bytes(root, "/a/file-", 0xe8), "two");
  fs.symlinkSync(bytes("leads-to-", 0xff), bytes(root, "/a/link-", 0xff));
  return root;
}

it.runIf(isLinux)("removes a folder that holds names which are not UTF-8", async () => {
  const root = folderWithOddNames();
  await createDiskVfs({ root }).rm("a", { recursive: true });
  expect(fs.readdirSync(root)).toEqual([]);
});

it.runIf(isLinux)("copies a folder that holds names and links which are not UTF-8, each as it is", async () => {
  const root = folderWithOddNames();
  expect(await createDiskVfs({ root }).cp("a", "b")).toEqual({ path: join(root, "b"), bytesTransferred: 13 });
  expect(fs.readFileSync(bytes(root, "/b/folder-", 0xe9, "/file-", 0xff), "utf8")).toBe("content");
  expect(fs.readFileSync(bytes(root, "/b/file-", 0xe9), "utf8")).toBe("one");
  expect(fs.readFileSync(bytes(root, "/b/file-", 0xe8), "utf8")).toBe("two");
  expect(fs.readlinkSync(bytes(root, "/b/link-", 0xff), "buffer")).toEqual(bytes("leads-to-", 0xff));
});
