import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VfsError } from "@keelson/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { OWN_VIEW } from "../files/disk-view.ts";
import { lookAt } from "./look-at.ts";
import { isPlaceholder, placeFolder } from "./placeholders.ts";
import { prepareMounts } from "./sandbox-mounts.ts";

let root: string;
let outside: string;
beforeEach(() => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "keelson-placeholders-")));
  root = join(folder, "workspace");
  outside = join(folder, "outside");
  mkdirSync(join(root, "a"), { recursive: true });
  mkdirSync(outside);
});
afterEach(() => rmSync(join(root, ".."), { recursive: true, force: true }));

/** What somebody outside may do between our look and our act. */
function swapForLink(): void {
  renameSync(join(root, "a"), join(root, "was-a"));
  symlinkSync(outside, join(root, "a"));
}

describe.skipIf(process.platform !== "linux")("a placeholder", () => {
  it.skipIf(process.getuid?.() === 0)("is not a folder that this user may not read, as some of the system are", () => {
    mkdirSync(join(root, "closed"), { mode: 0 });
    expect(isPlaceholder(join(root, "closed"))).toBe(false);
    expect(lookAt(join(root, "closed/file"), OWN_VIEW)).toBeUndefined();
    chmodSync(join(root, "closed"), 0o700);
  });

  it("stands for as long as one of those who need it is there", async () => {
    const path = join(root, "a/hooks");
    const [one, other] = [await placeFolder(path), await placeFolder(path)];
    expect(isPlaceholder(path)).toBe(true);
    await one?.remove();
    expect(isPlaceholder(path)).toBe(true);
    await other?.remove();
    expect(existsSync(path)).toBe(false);
  });

  it("that a process which is gone left behind is taken over, and removed at last", async () => {
    const path = join(root, "a/hooks");
    mkdirSync(path);
    // More than any system gives.
    writeFileSync(join(path, ".keelson-sandbox-4194999-1"), "");
    expect(isPlaceholder(path)).toBe(true);
    const placed = await placeFolder(path);
    expect(await placed?.remove()).toBe(true);
    expect(existsSync(path)).toBe(false);
  });

  it("is not put through a link that somebody put on its way", async () => {
    swapForLink();
    expect(VfsError.is(await placeFolder(join(root, "a/hooks")).catch((error: unknown) => error), "path-traversal")).toBe(true);
    expect(readdirSync(outside)).toEqual([]);
  });

  it("is not removed through such a link, nor is what stands there", async () => {
    mkdirSync(join(outside, "hooks"));
    const placed = await placeFolder(join(root, "a/hooks"));
    swapForLink();
    await placed?.remove();
    expect(readdirSync(outside)).toEqual(["hooks"]);
  });

  it("that another command put at a denied path is shared: it stays when that command ends", async () => {
    const policy = { filesystem: { deniedPaths: ["a/key.pem"] } };
    const one = await prepareMounts(policy, root);
    const other = await prepareMounts(policy, root);
    await one[Symbol.asyncDispose]();
    expect(isPlaceholder(join(root, "a/key.pem"))).toBe(true);
    await other[Symbol.asyncDispose]();
    expect(existsSync(join(root, "a/key.pem"))).toBe(false);
  });
});

it.skipIf(process.platform !== "linux")("a protected link is put back where it was, and nowhere that a link leads to", async () => {
  writeFileSync(join(outside, "settings"), "mine");
  symlinkSync("elsewhere", join(root, "a/settings"));
  const policy = { filesystem: { protectedPaths: ["a/settings"] } };
  const mounts = await prepareMounts(policy, root);
  swapForLink();
  await mounts[Symbol.asyncDispose]();
  expect(readdirSync(outside)).toEqual(["settings"]);
  expect(readFileSync(join(outside, "settings"), "utf8")).toBe("mine");
  expect(lstatSync(join(root, "was-a/settings")).isSymbolicLink()).toBe(true);
});
