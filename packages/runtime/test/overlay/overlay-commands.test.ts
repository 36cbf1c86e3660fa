import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { createDiskVfs, createOverlay, type Overlay, type OverlayOptions } from "../../src/environment/index.ts";
import { sampleSize } from "../../../../test/tier.ts";
import { describeWithBubblewrap } from "../sandbox/with-bubblewrap.ts";
import { copyTree, makeTree, testFolder, treeAt } from "./plain-tree.ts";

async function overlayOf(world: string, options: Partial<OverlayOptions>): Promise<Overlay> {
  const overlay = await createOverlay({ base: join(world, "base"), store: join(world, "store"), ...options });
  onTestFinished(() => overlay.close());
  return overlay;
}
async function run(overlay: Overlay, command: string): Promise<string> {
  const { exitCode, stdout, stderr } = await overlay.executor({}).execute({ command });
  return `${exitCode}: ${stdout}${stderr}`.trim();
}
const ROUNDS = sampleSize("diffs while a command works", { test: 20, ci: 100, soak: 1_000 });
const START = { "a.txt": "a\n", "d/b.txt": "b\n", "d/c.txt": "c\n", "e.txt": "1\n2\n3\n4\n5\n" };

it("refuses commands where they would write past the overlay, and says what to do", async () => {
  const world = testFolder();
  const base = makeTree(join(world, "base"), START);
  const before = treeAt(base);
  await expect((await overlayOf(world, { shell: "none" })).executor({}).execute({ command: "echo ours > a.txt" })).rejects.toThrow(
    /Commands can't write to this overlay.*shell: "copy"/,
  );
  const copy = await overlayOf(world, { shell: "copy" });
  for (const writableRoots of [[base], [world], [join(base, "d")]])
    await expect(copy.executor({ filesystem: { writableRoots } }).execute({ command: "echo ours > a.txt" })).rejects.toThrow(
      /would let commands change the base/,
    );
  expect(treeAt(base)).toEqual(before);
});

it("tells why commands can't write to it where overlayfs can't be mounted, and opens none that was to have it", async () => {
  const world = testFolder();
  makeTree(join(world, "base"), START);
  vi.stubEnv("PATH", join(world, "nowhere"));
  onTestFinished(() => void vi.unstubAllEnvs());
  const overlay = await overlayOf(world, {});
  await overlay.files.write("a.txt", "ours\n");
  await expect(overlay.executor({}).execute({ command: "true" })).rejects.toThrow(
    /Commands can't write to this overlay: .*(no bwrap|needs Linux)/,
  );
  await expect(overlayOf(world, { shell: "overlayfs", id: "asked" })).rejects.toThrow(/no bwrap|needs Linux/);
  expect(readdirSync(join(world, "store"))).toEqual([overlay.id]);
});

for (const shell of ["overlayfs", "copy"] as const)
  describeWithBubblewrap(`commands in an overlay with shell "${shell}"`, () => {
    it("write into the same workspace as the files do, and into the base with the commit", async () => {
      const world = testFolder();
      const base = makeTree(join(world, "base"), START);
      const before = treeAt(base);
      const overlay = await overlayOf(world, { shell });
      const plain = copyTree(base, join(world, "plain"));
      for (const root of [overlay.files, createDiskVfs({ root: plain })]) await root.write("new.txt", "of the files\n");
      const command =
        "cat new.txt; echo of a command > made.txt; rm -r d; mkdir d; echo z > d/z; mv a.txt moved.txt; ln -s made.txt link; chmod 700 e.txt";
      expect(await run(overlay, command)).toBe("0: of the files");
      expect(Buffer.from((await overlay.files.read("made.txt")).content).toString()).toBe("of a command\n");
      expect((await overlay.diff()).map(({ path, change }) => `${change} ${path}`)).toEqual([
        "deleted a.txt",
        "deleted d/b.txt",
        "deleted d/c.txt",
        "added d/z",
        "changed e.txt",
        "added link",
        "added made.txt",
        "added moved.txt",
        "added new.txt",
      ]);
      expect(treeAt(base)).toEqual(before);
      execFileSync("bash", ["-c", command], { cwd: plain });
      expect(await overlay.commit()).toMatchObject({ status: "committed" });
      expect(treeAt(base)).toEqual(treeAt(plain));
      expect(await run(overlay, "ls -d [a-z]*")).toBe("0: d\ne.txt\nlink\nmade.txt\nmoved.txt\nnew.txt");
    });

    it("keep what others added to the base meanwhile, and tell of what both changed", async () => {
      const world = testFolder();
      const base = makeTree(join(world, "base"), START);
      const overlay = await overlayOf(world, { shell });
      await run(overlay, "echo ours >> a.txt; rm d/c.txt");
      writeFileSync(join(base, "d/theirs.txt"), "theirs\n");
      writeFileSync(join(base, "e.txt"), "theirs\n");
      expect(await overlay.commit()).toMatchObject({ status: "committed", changed: ["a.txt", "d/c.txt"] });
      expect(readFileSync(join(base, "d/theirs.txt"), "utf8")).toBe("theirs\n");
      await run(overlay, "echo ours >> e.txt");
      writeFileSync(join(base, "e.txt"), "theirs again\n");
      expect(await overlay.commit()).toMatchObject({ status: "conflicts", conflicts: [{ path: "e.txt" }] });
      await overlay.rollback();
      expect(await run(overlay, "cat e.txt")).toBe("0: theirs again");
    });

    it("see nothing of other overlays in the store, and can't reach the base", async () => {
      const world = testFolder();
      const base = makeTree(join(world, "base"), START);
      const [one, other] = [await overlayOf(world, { shell, id: "one" }), await overlayOf(world, { shell, id: "other" })];
      await other.files.write("secret.txt", "canary\n");
      const said = await run(one, `find ${join(world, "store")} -name secret.txt; echo x > ${join(base, "a.txt")} || echo refused`);
      // There the workspace stands in the place of the base.
      if (shell === "overlayfs") expect(said).toBe("0:");
      else expect(said).toMatch(/^0: refused\n.*Read-only/s);
      expect(readFileSync(join(base, "a.txt"), "utf8")).toBe("a\n");
    });

    it("lead the files by links with whole paths to the workspace, never to the base", async () => {
      const world = testFolder();
      makeTree(join(world, "base"), START);
      const overlay = await overlayOf(world, { shell });
      await run(overlay, 'echo ours > a.txt; rm -r d; mkdir real; echo ours > real/b.txt; ln -s "$PWD/a.txt" link; ln -s "$PWD/real" d');
      for (const path of ["link", "d/b.txt"]) expect(Buffer.from((await overlay.files.read(path)).content).toString(), path).toBe("ours\n");
      expect((await overlay.files.ls("d")).map(({ name }) => name)).toEqual(["b.txt"]);
    });

    it.runIf(shell === "overlayfs")("lead where links of the base lead by now", async () => {
      const world = testFolder();
      const base = makeTree(join(world, "base"), START);
      symlinkSync("a.txt", join(base, "link"));
      const { files } = await overlayOf(world, { shell });
      expect(await files.realPath?.("link")).toBe(join(base, "a.txt"));
      rmSync(join(base, "link"));
      symlinkSync("e.txt", join(base, "link"));
      expect(await files.realPath?.("link")).toBe(join(base, "e.txt"));
    });

    it("replace a folder by a link to one with files of the same names, of which none is taken for a file of the old folder", async () => {
      const world = testFolder();
      const base = makeTree(join(world, "base"), { ...START, "f/b.txt": "another\n" });
      const outside = makeTree(join(world, "outside"), { "b.txt": "outside\n" });
      for (const target of ["f", outside]) {
        const overlay = await overlayOf(world, { shell });
        await run(overlay, `rm -rf d; ln -s ${target} d`);
        expect(await overlay.diff()).toEqual([
          { path: "d", change: "changed", type: "link" },
          { path: "d/b.txt", change: "deleted", type: "file" },
          { path: "d/c.txt", change: "deleted", type: "file" },
        ]);
        expect(await overlay.commit()).toMatchObject({ status: "committed", changed: ["d", "d/b.txt", "d/c.txt"] });
        expect(treeAt(base)).toMatchObject({ "d": `link ${target}`, "f/b.txt": "file 644 another\n" });
        rmSync(join(base, "d"));
        makeTree(base, START);
      }
    });

    it("run in the background, and in a row, as in other sandboxes", async () => {
      const world = testFolder();
      makeTree(join(world, "base"), START);
      const overlay = await overlayOf(world, { shell });
      const executor = overlay.executor({});
      const job = await executor.jobs?.start({ command: "echo of a job > job.txt" });
      await executor.jobs?.ended(job?.id ?? "");
      expect(
        await executor.pipeline?.([
          { command: "cat", args: ["job.txt"], stderrToStdout: false },
          { command: "tr", args: ["a-z", "A-Z"], stderrToStdout: false },
        ]),
      ).toMatchObject({ stdout: "OF A JOB\n" });
      expect((await overlay.diff()).map(({ path }) => path)).toEqual(["job.txt"]);
    });

    it("leave nothing in the changes of what keeps protected paths empty while they run, even when they are killed", async () => {
      const world = testFolder();
      const base = makeTree(join(world, "base"), { ...START, ".git/config": "[core]\n" });
      const overlay = await overlayOf(world, { shell });
      const stop = new AbortController();
      const started = Promise.withResolvers<void>();
      const command = overlay
        .executor({})
        .execute({ command: "echo x > x; echo ready; sleep 600", signal: stop.signal, onOutput: () => started.resolve() });
      await started.promise;
      expect((await overlay.diff()).map(({ path }) => path)).toEqual(["x"]);
      // As a killed process leaves them: an empty folder with the mark of a process that is gone.
      makeTree(join(base, "../store", overlay.id, "layer-0", shell === "copy" ? "copy" : "upper"), {
        ".cursor/.keelson-sandbox-999999999-1": "",
      });
      expect((await overlay.diff()).map(({ path }) => path)).toEqual(["x"]);
      stop.abort();
      await expect(command).rejects.toThrow(/cancelled/);
    });

    it("make, replace and remove what a diff is looking at", async () => {
      const world = testFolder();
      makeTree(join(world, "base"), START);
      const overlay = await overlayOf(world, { shell });
      const stop = new AbortController();
      const started = Promise.withResolvers<void>();
      const turn = "mkdir -p n/m; echo x > n/m/f; ln -s f n/m/l; echo y > n/p; rm n/p; mkdir n/p; rmdir n/p; ln -s m n/p; rm -r n";
      const command = overlay
        .executor({})
        .execute({ command: `echo ready; while :; do ${turn}; done`, signal: stop.signal, onOutput: () => started.resolve() });
      await started.promise;
      for (let round = 0; round < ROUNDS; round++)
        for (const { path } of await overlay.diff({ text: true })) expect(path).toMatch(/^n(\/|$)/);
      stop.abort();
      await expect(command).rejects.toThrow(/cancelled/);
      await run(overlay, "rm -rf n");
      expect(await overlay.diff()).toEqual([]);
    });

    it("lead a diff nowhere else by a link that they swap in", async () => {
      const world = testFolder();
      makeTree(join(world, "base"), START);
      makeTree(join(world, "outside"), { s: "a secret\n" });
      writeFileSync(
        join(world, "base", "swap.cjs"),
        `const { mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } = require("node:fs");
        const stay = () => { for (const end = performance.now() + 4 * Math.random(); performance.now() < end;); };
        mkdirSync("n");
        writeFileSync("n/s", "ours\\n");
        console.log("ready");
        for (;;) {
          renameSync("n", "m");
          symlinkSync(${JSON.stringify(join(world, "outside"))}, "n");
          stay();
          unlinkSync("n");
          renameSync("m", "n");
          stay();
        }`,
      );
      const overlay = await overlayOf(world, { shell });
      const stop = new AbortController();
      const started = Promise.withResolvers<void>();
      const command = overlay
        .executor({})
        .execute({ command: `${process.execPath} swap.cjs`, signal: stop.signal, onOutput: () => started.resolve() });
      await started.promise;
      for (let round = 0; round < ROUNDS; round++) expect(JSON.stringify(await overlay.diff({ text: true }))).not.toContain("secret\\n");
      stop.abort();
      await expect(command).rejects.toThrow(/cancelled/);
    });

    it("are not committed while they run", async () => {
      const world = testFolder();
      makeTree(join(world, "base"), START);
      const overlay = await overlayOf(world, { shell });
      const stop = new AbortController();
      const started = Promise.withResolvers<void>();
      const command = overlay
        .executor({})
        .execute({ command: "echo ready; sleep 600", signal: stop.signal, onOutput: () => started.resolve() });
      await started.promise;
      await expect(overlay.commit()).rejects.toThrow(/while commands run in it/);
      await expect(overlay.rollback()).rejects.toThrow(/while commands run in it/);
      stop.abort();
      await expect(command).rejects.toThrow(/cancelled/);
      expect(await overlay.commit()).toMatchObject({ status: "committed" });
    });
  });
