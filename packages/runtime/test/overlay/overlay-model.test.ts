import type { Vfs } from "@keelson/protocol";
import { VfsError } from "@keelson/protocol";
import fc from "fast-check";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createDiskVfs, createOverlay } from "../../src/environment/index.ts";
import { sampleSize, seed, tier } from "../../../../test/tier.ts";
import { copyTree, makeTree, testFolder, treeAt } from "./plain-tree.ts";

type Edit =
  | { readonly kind: "write" | "edit"; readonly path: string; readonly text: string }
  | { readonly kind: "rm"; readonly path: string }
  | { readonly kind: "cp" | "mv"; readonly path: string; readonly to: string };

const WAIT_MS = tier === "soak" ? 1_800_000 : 30_000;
const START = { "a.txt": "a\n", "d/a.txt": "da\n", "d/b.txt": "db\n", "d/e/a.txt": "dea\n", "f/a.txt": "fa\n" };
const names = fc.constantFrom("a.txt", "b.txt", "d", "e", "f", "new");
const path = fc.array(names, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ kind: fc.constant("write" as const), path, text: fc.constantFrom("one\n", "two\n", "a\n", "") }),
  fc.record({ kind: fc.constant("edit" as const), path, text: fc.constantFrom("x", "y") }),
  fc.record({ kind: fc.constant("rm" as const), path }),
  fc.record({ kind: fc.constantFrom("cp" as const, "mv" as const), path, to: path }),
);

/** Both sides have to agree on what is refused, too; why may be told in another order. */
async function carryOut(files: Vfs, todo: Edit): Promise<string> {
  try {
    switch (todo.kind) {
      case "write":
        await files.write(todo.path, todo.text);
        break;
      case "edit":
        await files.edit(todo.path, "a", todo.text);
        break;
      case "rm":
        await files.rm(todo.path, { recursive: true });
        break;
      case "cp":
      case "mv":
        await files[todo.kind](todo.path, todo.to);
        break;
    }
    return "done";
  } catch (error) {
    if (!VfsError.is(error)) throw error;
    return "refused";
  }
}

it(
  "makes of a base, at the commit, what the same edits make of a plain folder; and nothing before it or after a rollback",
  { timeout: WAIT_MS },
  async () => {
    const world = testFolder();
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 12 }), fc.nat({ max: 12 }), async (edits, reopenAt) => {
        const folder = join(world, String(round++));
        const base = makeTree(join(folder, "base"), START);
        const before = treeAt(base);
        const plain = createDiskVfs({ root: copyTree(base, join(folder, "plain")) });
        let overlay = await createOverlay({ base, store: join(folder, "store"), shell: "none" });
        for (const [index, todo] of edits.entries()) {
          expect(await carryOut(overlay.files, todo), JSON.stringify(todo)).toBe(await carryOut(plain, todo));
          if (index === reopenAt) {
            await overlay.close();
            overlay = await createOverlay({ base, store: join(folder, "store"), id: overlay.id });
          }
        }
        const wanted = treeAt(plain.root);
        expect((await overlay.files.glob("**")).map(({ path: found }) => found.slice(base.length + 1)).sort()).toEqual(
          Object.keys(wanted).sort(),
        );
        expect(treeAt(base)).toEqual(before);

        const changed = new Set([...Object.keys(before), ...Object.keys(wanted)].filter((name) => before[name] !== wanted[name]));
        expect((await overlay.diff()).map((change) => change.path).sort()).toEqual([...changed].sort());
        expect(await overlay.commit()).toMatchObject({ status: "committed", merged: [] });
        expect(treeAt(base)).toEqual(wanted);
        expect(await overlay.diff()).toEqual([]);

        for (const todo of edits) await carryOut(overlay.files, todo);
        await overlay.rollback();
        expect(await overlay.diff()).toEqual([]);
        await overlay.close();
        expect(treeAt(base)).toEqual(wanted);
        rmSync(folder, { recursive: true });
      }),
      { numRuns: sampleSize("edits through an overlay", { test: 20, ci: 40, soak: 3000 }), seed },
    );
  },
);
