import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { createDiskVfs, createOverlay } from "keelson/environment";
import { expect, it } from "vitest";
import { sampleSize, seed, tier } from "../../../../test/tier.ts";
import { describeWithBubblewrap } from "../sandbox/with-bubblewrap.ts";
import { copyTree, makeTree, testFolder, treeAt } from "./plain-tree.ts";

// Each command starts a sandbox.
const WAIT_MS = tier === "soak" ? 3_600_000 : 90_000;
const START = { "a.txt": "a\n", "d/a.txt": "da\n", "d/b.txt": "db\n", "d/e/a.txt": "dea\n", "f/a.txt": "fa\n" };
const name = fc.constantFrom("a.txt", "b.txt", "d", "e", "f", "new");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
const text = fc.constantFrom("one", "two", "a");
const statement: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(text, fc.constantFrom(">", ">>"), path).map((parts) => `echo ${parts.join(" ")}`),
  // Folders stay open to their owner: commands in a sandbox have no capability to enter others, as those outside do for root.
  fc
    .tuple(fc.constantFrom("rm -rf", "mkdir -p", "rmdir", "chmod 700", "chmod 750", "rm -rf d; mkdir -p", "touch"), path)
    .map((parts) => parts.join(" ")),
  // What `cp` copies of a folder into itself depends on the order in which it happens to read that.
  fc
    .tuple(fc.constantFrom("cp -r", "mv -T", "ln", "ln -sfn"), path, path)
    .filter(([program, from, to]) => program !== "cp -r" || !`${to}/`.startsWith(`${from}/`))
    .map((parts) => parts.join(" ")),
  fc.tuple(path, path).map(([from, to]) => `sed -i s/a/b/ ${from} ${to}`),
);
/** What is done by one command, or by the files of this process. */
const step = fc.oneof(
  { weight: 3, arbitrary: fc.array(statement, { minLength: 1, maxLength: 6 }).map((statements) => ({ command: statements.join("; ") })) },
  { weight: 1, arbitrary: fc.record({ write: path, text }) },
  { weight: 1, arbitrary: fc.record({ remove: path }) },
);

describeWithBubblewrap("commands and files in an overlay", () => {
  it("make of a base, at the commit and never before it, what they make of a plain folder", { timeout: WAIT_MS }, async () => {
    const world = testFolder();
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), fc.nat({ max: 5 }), async (steps, reopenAt) => {
        const folder = join(world, String(round++));
        const [base, store] = [makeTree(join(folder, "base"), START), join(folder, "store")];
        const before = treeAt(base);
        const plain = createDiskVfs({ root: copyTree(base, join(folder, "plain")) });
        let overlay = await createOverlay({ base, store, shell: "overlayfs" });
        for (const [index, todo] of steps.entries()) {
          if ("command" in todo) {
            const { stdout } = await overlay.executor({}).execute({ command: `(${todo.command}) 2>/dev/null; echo $?` });
            expect(stdout, todo.command).toBe(
              execFileSync("bash", ["-c", `(${todo.command}) 2>/dev/null; echo $?`], { cwd: plain.root, encoding: "utf8" }),
            );
          } else
            for (const { files } of [overlay, { files: plain }])
              await ("write" in todo ? files.write(todo.write, todo.text) : files.rm(todo.remove, { recursive: true })).catch(() => {});
          if (index === reopenAt) {
            await overlay.close();
            overlay = await createOverlay({ base, store, id: overlay.id });
          }
        }
        const wanted = treeAt(plain.root);
        expect((await overlay.files.glob("**")).map(({ path: found }) => found.slice(base.length + 1)).sort()).toEqual(
          Object.keys(wanted).sort(),
        );
        expect(treeAt(base)).toEqual(before);
        const changed = new Set([...Object.keys(before), ...Object.keys(wanted)].filter((at) => before[at] !== wanted[at]));
        expect((await overlay.diff()).map((change) => change.path).sort()).toEqual([...changed].sort());
        expect(await overlay.commit()).toMatchObject({ status: "committed", merged: [] });
        expect(treeAt(base)).toEqual(wanted);
        expect(await overlay.diff()).toEqual([]);
        await overlay.executor({}).execute({ command: "rm -rf *; echo x > x" });
        await overlay.rollback();
        expect(await overlay.diff()).toEqual([]);
        await overlay.close();
        expect(treeAt(base)).toEqual(wanted);
        rmSync(folder, { recursive: true });
      }),
      { numRuns: sampleSize("commands in an overlay", { test: 2, ci: 3, soak: 500 }), seed },
    );
  });
});
