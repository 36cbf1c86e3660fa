import { VfsError } from "@keelson/protocol";
import { expect, it } from "vitest";
import { describeVfs } from "../../testing/vfs-contract.ts";
import { createMemoryVfs } from "./memory-vfs.ts";

describeVfs("memory", {
  capabilities: ["ls", "read", "write", "edit", "grep", "glob", "pwd", "cd", "rm", "cp", "mv"],
  create: async (content) => {
    const files = createMemoryVfs();
    for (const [path, text] of Object.entries(content)) await files.write(path, text);
    return files;
  },
});

it("is empty at first, with / as its working directory, and forgets with its object [MP-01] [MP-02] [MP-03]", async () => {
  const files = createMemoryVfs();
  expect(await files.pwd()).toBe("/");
  expect(await files.ls("/")).toEqual([]);
  await files.write("a.txt", "a");
  expect(await createMemoryVfs().ls("/")).toEqual([]);
});

it("holds no more bytes than it may, however they come there", async () => {
  const files = createMemoryVfs({ maxBytes: 10 });
  await files.write("a.txt", "12345");
  await files.write("a.txt", "1234567890");
  const full = { failure: { kind: "resource-limit", limit: "maxBytes" } };
  await expect(files.write("b.txt", "1")).rejects.toMatchObject(full);
  await expect(files.cp("a.txt", "b.txt")).rejects.toMatchObject(full);
  await expect(files.edit("a.txt", "1", "12")).rejects.toBeInstanceOf(VfsError);
  await files.rm("a.txt");
  await files.write("folder/b.txt", "12345");
  await files.cp("folder", "copy");
  await files.mv("copy/b.txt", "folder/b.txt");
  await files.write("c.txt", "12345");
  await expect(files.write("d.txt", "1")).rejects.toMatchObject(full);
});

it("tells when a file was written", async () => {
  let time = 1000;
  const files = createMemoryVfs({ now: () => time });
  await files.write("a.txt", "a");
  time = 2000;
  await files.cp("a.txt", "b.txt");
  await files.mv("a.txt", "c.txt");
  expect((await files.ls("/")).map(({ name, modified }) => [name, modified])).toEqual([
    ["b.txt", 2000],
    ["c.txt", 1000],
  ]);
});
