import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createOverlay, type Overlay, type OverlayOptions } from "../../src/environment/index.ts";
import { loadLineMerger } from "../../src/environment/overlay/merge-lines.ts";
import { sampleSize } from "../../../../test/tier.ts";
import { makeTree, testFolder, type TreeContent, treeAt } from "./plain-tree.ts";

async function overlayOf(
  shell: OverlayOptions["shell"],
  content: TreeContent,
): Promise<{ readonly base: string; readonly store: string; readonly overlay: Overlay }> {
  const world = testFolder();
  const [base, store] = [makeTree(join(world, "base"), content), join(world, "store")];
  const overlay = await createOverlay({ base, store, shell });
  onTestFinished(() => overlay.close());
  return { base, store, overlay };
}
const text = async ({ files }: Overlay, path: string): Promise<string> => Buffer.from((await files.read(path)).content).toString("utf8");
const LINES = "one\ntwo\nthree\nfour\nfive\n";

for (const shell of [undefined, "none"] as const)
  describe(shell === undefined ? "an overlay" : `an overlay with shell "${shell}"`, () => {
    it("merges what both sides changed in different lines of a text", async () => {
      const { base, overlay } = await overlayOf(shell, { "a.txt": LINES });
      await overlay.files.edit("a.txt", "one", "ONE");
      writeFileSync(join(base, "a.txt"), LINES.replace("five", "FIVE"));
      expect(await overlay.commit()).toEqual({ status: "committed", changed: ["a.txt"], merged: ["a.txt"] });
      expect(readFileSync(join(base, "a.txt"), "utf8")).toBe("ONE\ntwo\nthree\nfour\nFIVE\n");
      expect(await text(overlay, "a.txt")).toBe("ONE\ntwo\nthree\nfour\nFIVE\n");
    });

    it("tells of every conflict, and changes nothing on either side", async () => {
      const { base, overlay } = await overlayOf(shell, {
        "same.txt": LINES,
        "removed.txt": "a\n",
        "kept.txt": "a\n",
        "blob": "a\0b",
        "d/a.txt": "a\n",
        "free.txt": "a\n",
        "f/x": "x\n",
      });
      await overlay.files.edit("same.txt", "one", "ours");
      await overlay.files.rm("removed.txt");
      await overlay.files.write("kept.txt", "ours\n");
      await overlay.files.write("blob", "ours\0");
      await overlay.files.write("added.txt", "ours\n");
      await overlay.files.rm("d", { recursive: true });
      await overlay.files.write("free.txt", "ours\n");
      await overlay.files.write("f/y", "ours\n");
      writeFileSync(join(base, "same.txt"), LINES.replace("one", "theirs"));
      writeFileSync(join(base, "removed.txt"), "theirs\n");
      rmSync(join(base, "kept.txt"));
      writeFileSync(join(base, "blob"), "theirs\0");
      writeFileSync(join(base, "added.txt"), "theirs\n");
      writeFileSync(join(base, "d/new.txt"), "theirs\n");
      rmSync(join(base, "f"), { recursive: true });
      symlinkSync("/", join(base, "f"));
      const [before, changes] = [treeAt(base), await overlay.diff()];

      const result = await overlay.commit();
      expect(result.status === "conflicts" && Object.fromEntries(result.conflicts.map(({ path, reason }) => [path, reason]))).toEqual({
        "added.txt": "it was added in the base, and it was added here",
        "blob": "it was changed in the base, and it was changed here",
        "d/new.txt": "it came to be in the base, in a folder that was removed here",
        "f/y": "in the base, f is no folder any more",
        "kept.txt": "it was removed in the base, and it was changed here",
        "removed.txt": "it was changed in the base, and it was removed here",
        "same.txt": "both sides changed the same lines",
      });
      expect(treeAt(base)).toEqual(before);
      expect(await overlay.diff()).toEqual(changes);
    });

    it.each(["ours", "theirs"] as const)("lets whoever commits say that %s stand where both changed something", async (winner) => {
      const { base, overlay } = await overlayOf(shell, { "a.txt": "a\n", "d/a.txt": "a\n", "d/b.txt": "b\n", "free.txt": "a\n" });
      await overlay.files.write("a.txt", "ours\n");
      await overlay.files.rm("d", { recursive: true });
      await overlay.files.write("free.txt", "ours\n");
      writeFileSync(join(base, "a.txt"), "theirs\n");
      writeFileSync(join(base, "d/a.txt"), "theirs\n");
      expect(await overlay.commit({ resolve: () => winner })).toMatchObject({ status: "committed" });
      const file = `file ${(0o666 & ~process.umask()).toString(8)}`;
      const folder = `folder ${(0o777 & ~process.umask()).toString(8)}`;
      expect(treeAt(base)).toEqual({
        "a.txt": `${file} ${winner}\n`,
        ...(winner === "theirs" && { "d": folder, "d/a.txt": `${file} theirs\n` }),
        "free.txt": `${file} ours\n`,
      });
    });

    it("makes folders where the base has files and links that were removed here, and changes nothing behind those links", async () => {
      const { base, store, overlay } = await overlayOf(shell, { "a.txt": "a\n" });
      const elsewhere = makeTree(join(store, "../elsewhere"), { "e/x.txt": "kept\n", "x.txt": "kept\n" });
      symlinkSync(elsewhere, join(base, "link"));
      await overlay.rollback();
      await overlay.files.rm("a.txt");
      await overlay.files.write("a.txt/b/c.txt", "new\n");
      await overlay.files.rm("link");
      await overlay.files.write("link/e/x.txt", "new\n");
      await overlay.files.write("link/x.txt", "new\n");
      expect(await overlay.commit()).toMatchObject({ status: "committed", merged: [] });
      const made = makeTree(join(store, "../made"), { "a.txt/b/c.txt": "new\n", "link/e/x.txt": "new\n", "link/x.txt": "new\n" });
      expect(treeAt(base)).toEqual(treeAt(made));
      expect(Object.keys(treeAt(elsewhere))).toEqual(["e", "e/x.txt", "x.txt"]);
      expect(readFileSync(join(elsewhere, "e/x.txt"), "utf8")).toBe("kept\n");
    });

    it.each(["ours", "theirs"] as const)("lets %s stand with all that is below, where only one side has a folder", async (winner) => {
      const { base, overlay } = await overlayOf(shell, { "a.txt": "a\n", "gone.txt": "a\n", "f/x": "x\n" });
      for (const path of ["a.txt", "gone.txt"]) {
        await overlay.files.rm(path);
        await overlay.files.write(`${path}/ours/x`, "ours\n");
      }
      await overlay.files.write("f/y", "ours\n");
      writeFileSync(join(base, "a.txt"), "theirs\n");
      rmSync(join(base, "gone.txt"));
      rmSync(join(base, "f"), { recursive: true });
      writeFileSync(join(base, "f"), "theirs\n");
      const asked: string[] = [];
      const resolve = ({ path }: { readonly path: string }): typeof winner => {
        asked.push(path);
        return winner;
      };
      expect(await overlay.commit({ resolve })).toMatchObject({ status: "committed" });
      expect(asked).toEqual(["a.txt", "f/y", "gone.txt"]);
      const files = Object.entries(treeAt(base)).filter(([, content]) => content.startsWith("file"));
      expect(files.map(([path, content]) => [path, content.split(" ").at(-1)])).toEqual(
        winner === "ours"
          ? [
              ["a.txt/ours/x", "ours\n"],
              ["f/y", "ours\n"],
              ["gone.txt/ours/x", "ours\n"],
            ]
          : [
              ["a.txt", "theirs\n"],
              ["f", "theirs\n"],
            ],
      );
    });

    it("takes no conflict for one where both sides did the same, or nothing but touch a file", async () => {
      const { base, overlay } = await overlayOf(shell, { "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" });
      await overlay.files.write("a.txt", "both\n");
      await overlay.files.rm("b.txt");
      await overlay.files.write("c.txt", "ours\n");
      writeFileSync(join(base, "a.txt"), "both\n");
      rmSync(join(base, "b.txt"));
      writeFileSync(join(base, "c.txt"), "c\n");
      expect(await overlay.commit()).toEqual({ status: "committed", changed: ["c.txt"], merged: [] });
    });

    it("keeps a mode that one side changed, and refuses two that differ", async () => {
      const { base, overlay } = await overlayOf(shell, { "a.sh": "a\n" });
      await overlay.files.write("a.sh", "ours\n");
      chmodSync(join(base, "a.sh"), 0o755);
      expect(await overlay.commit()).toMatchObject({ status: "committed" });
      expect(treeAt(base)).toEqual({ "a.sh": "file 755 ours\n" });
    });

    it("knows of all that was in a folder that was removed, also where some of it was looked at before that", async () => {
      const { base, overlay } = await overlayOf(shell, { "d/e/a.txt": "a\n", "d/b.txt": "b\n" });
      await expect(overlay.files.edit("d/e", "a", "b")).rejects.toMatchObject({ failure: { kind: "is-directory" } });
      chmodSync(join(base, "d/e"), 0o700);
      await overlay.files.rm("d", { recursive: true });
      expect((await overlay.diff()).map(({ path }) => path)).toEqual(["d", "d/b.txt", "d/e", "d/e/a.txt"]);
      chmodSync(join(base, "d/e"), 0o755);
      expect(await overlay.commit()).toMatchObject({ status: "committed" });
      expect(treeAt(base)).toEqual({});
    });

    it("shows texts as they were and are", async () => {
      const { overlay } = await overlayOf(shell, { "a.txt": LINES, "gone.txt": "x", "blob": "a\0" });
      await overlay.files.edit("a.txt", "two", "TWO");
      await overlay.files.write("d/new.txt", "new\n");
      await overlay.files.write("blob", "b\0");
      expect(await overlay.diff({ text: true })).toEqual([
        {
          path: "a.txt",
          change: "changed",
          type: "file",
          text: "--- a/a.txt\n+++ b/a.txt\n@@ -1,5 +1,5 @@\n one\n-two\n+TWO\n three\n four\n five\n",
        },
        { path: "blob", change: "changed", type: "file" },
        { path: "d", change: "added", type: "folder" },
        { path: "d/new.txt", change: "added", type: "file", text: "--- /dev/null\n+++ b/d/new.txt\n@@ -0,0 +1 @@\n+new\n" },
      ]);
    });
  });

it("says what to install where texts can't be merged", async () => {
  await expect(loadLineMerger(() => Promise.reject(new Error("not found")))).rejects.toThrow(/npm install node-diff3/);
});

it("is open in one place at a time, and keeps its changes for the next", async () => {
  const { base, store, overlay } = await overlayOf(undefined, { "a.txt": "a\n" });
  await overlay.files.write("a.txt", "ours\n");
  await expect(createOverlay({ base, store, id: overlay.id })).rejects.toThrow(/is open already/);
  await overlay.close();
  await expect(overlay.files.write("a.txt", "late")).rejects.toThrow(/is closed/);
  const again = await createOverlay({ base, store, id: overlay.id });
  expect(await text(again, "a.txt")).toBe("ours\n");
  await again.rollback();
  await again.close();
  expect(readdirSync(store)).toEqual([]);
  expect(treeAt(base)).toMatchObject({ "a.txt": expect.stringContaining(" a\n") });
});

it("refuses a store in the base, and an id that is a path", async () => {
  const world = testFolder();
  await expect(createOverlay({ base: world, store: join(world, "store") })).rejects.toThrow(/outside of its base/);
  mkdirSync(join(world, "base"));
  await expect(createOverlay({ base: join(world, "base"), store: join(world, "store"), id: "../x" })).rejects.toThrow(/no id/);
});

const KILLS = sampleSize("kills in the middle of a commit", { test: 2, ci: 8, soak: 200 });

// Each kill starts a process, which takes a second on a slow machine and more on a busy one.
it("finishes a commit whose process was killed, or has not begun it: never half of it", { timeout: 30_000 + KILLS * 4000 }, async () => {
  const world = testFolder();
  const files = Object.fromEntries(Array.from({ length: 24 }, (_, number) => [`d${number % 7}/f${number}`, `old ${number}\n`]));
  const outcomes = { "not begun": 0, "finished": 0 };
  for (let round = 0; round < KILLS; round++) {
    const [base, store] = [makeTree(join(world, `base${round}`), files), join(world, `store${round}`)];
    const overlay = await createOverlay({ base, store, id: "work" });
    for (const [path, content] of Object.entries(files)) {
      if (path.endsWith("3")) await overlay.files.rm(path);
      else await overlay.files.write(path.endsWith("4") ? `new/${path}` : path, content.replace("old", "new"));
    }
    const before = treeAt(base);
    await overlay.close();
    const act = 30 + Math.floor((round / KILLS) * 90);
    const child = spawn(
      process.execPath,
      ["--conditions=source", join(import.meta.dirname, "commit-in-a-process.ts"), base, store, "work", String(act)],
      { stdio: ["ignore", "ignore", "inherit"] },
    );
    const [code, signal] = await once(child, "exit");
    // A late act may be one more than there are.
    if (signal === null) expect(code).toBe(0);
    else expect(signal).toBe("SIGKILL");

    const again = await createOverlay({ base, store, id: "work" });
    const between = treeAt(base);
    await again.commit();
    const after = treeAt(base);
    outcomes[JSON.stringify(between) === JSON.stringify(before) ? "not begun" : "finished"]++;
    expect([before, after]).toContainEqual(between);
    expect(after["new/d0/f14"]).toMatch(/new 14/);
    expect(after["d3/f3"]).toBeUndefined();
    expect(Object.keys(after).filter((name) => name.startsWith(".keelson"))).toEqual([]);
    await again.close();
    expect(existsSync(join(store, "work"))).toBe(false);
  }
  expect(Math.min(...Object.values(outcomes))).toBeGreaterThan(0);
});
