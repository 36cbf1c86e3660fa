import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VfsError } from "@keelson/protocol";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ensureDirectory, openChild, openDirectory } from "./anchored-directory.ts";
import { createFolderView } from "./disk-view.ts";
import { replaceFile } from "./replace-file.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "keelson-anchor-")));
  mkdirSync(join(base, "root/a/b"), { recursive: true });
  mkdirSync(join(base, "outside/b"), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true }));

it("refuses a path of which any part has become a link", async () => {
  rmSync(join(base, "root/a"), { recursive: true });
  symlinkSync(join(base, "outside"), join(base, "root/a"));
  for (const path of ["root/a", "root/a/b"]) {
    const error = await openDirectory(join(base, path), join(base, "root")).catch((caught: unknown) => caught);
    expect(VfsError.is(error, "path-traversal")).toBe(true);
  }
});

it("refuses a folder that was reached past the view in which it is looked for", async () => {
  const root = join(base, "root");
  const { dev } = statSync(root);
  await using shown = await openDirectory(join(root, "a"), root, createFolderView(root, root, dev));
  expect(readdirSync(shown.self)).toEqual(["b"]);
  const past = await openDirectory(join(root, "a"), root, createFolderView(root, root, dev + 1)).catch((caught: unknown) => caught);
  expect(VfsError.is(past, "path-traversal")).toBe(true);
});

it("refuses a link in the place of a child, also where it would be made", async () => {
  await using root = await openDirectory(join(base, "root"), join(base, "root"));
  symlinkSync(join(base, "outside"), join(base, "root/link"));
  for (const open of [openChild, ensureDirectory]) {
    const error = await open(root, "link", join(base, "root")).catch((caught: unknown) => caught);
    expect(VfsError.is(error, "path-traversal")).toBe(true);
  }
});

it("stays with the folder that was opened, whatever is put in its place", async (context) => {
  if (process.platform !== "linux") return context.skip();
  await using folder = await openDirectory(join(base, "root/a"), join(base, "root"));
  renameSync(join(base, "root/a"), join(base, "root/moved"));
  symlinkSync(join(base, "outside"), join(base, "root/a"));
  writeFileSync(folder.at("direct.txt"), "x");
  await replaceFile(folder, "replaced.txt", { write: async (file) => (await file.write("y")).bytesWritten });
  expect(readdirSync(join(base, "outside"))).toEqual(["b"]);
  expect(readFileSync(join(base, "root/moved/direct.txt"), "utf8")).toBe("x");
  expect(readFileSync(join(base, "root/moved/replaced.txt"), "utf8")).toBe("y");
});
