import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createOverlay, type Overlay } from "../../src/environment/index.ts";
import { processOwner } from "../../src/platform/process-owner.ts";
import { makeTree, testFolder } from "./plain-tree.ts";

function makeWorld(): { readonly world: string; readonly base: string; readonly store: string; open(): Promise<Overlay> } {
  const world = testFolder();
  const [base, store] = [makeTree(join(world, "base"), { "a.txt": "a\n", "d/a.txt": "a\n", "z.txt": "a\n" }), join(world, "store")];
  makeTree(join(world, "outside"), { "secret.txt": "secret\n" });
  return {
    world,
    base,
    store,
    async open() {
      const overlay = await createOverlay({ base, store });
      onTestFinished(() => overlay.close());
      return overlay;
    },
  };
}
/** The name of a process that has ended. */
const deadOwner = (): string => processOwner().replace(/^\d+/, String(spawnSync("true").pid));

describe("what others put into the base as though a commit had been cut off", () => {
  it("is not carried out, neither outside nor in places that commands may not write", async () => {
    const { world, base, open } = makeWorld();
    const planted = join(base, ".keelson-commit-0123456789ab");
    const acts = [
      { act: "place", path: "../outside/planted.txt", was: null },
      { act: "place", path: "hooks/pre-commit", was: null },
      { act: "set-mode", path: "../outside/secret.txt", mode: 0o777, before: 0o644 },
    ];
    makeTree(planted, { "owner": deadOwner(), "journal.json": JSON.stringify(acts), "new/0": "planted", "new/1": "planted", "old/x": "" });
    // As it is written today, in a place that the others can write to.
    writeFileSync(join(planted, "journal"), join(planted, "decided.json"));
    mkdirSync(join(base, "hooks"));
    const overlay = await open().catch((error: unknown) => error as Error);
    if (!(overlay instanceof Error)) {
      await overlay.files.write("a.txt", "ours\n");
      expect(await overlay.commit()).toMatchObject({ status: "committed" });
    }
    expect([readdirSync(join(world, "outside")), readdirSync(join(base, "hooks"))]).toEqual([["secret.txt"], []]);
  });

  it("is told where it names a journal that this store does not have", async () => {
    const { world, base, open } = makeWorld();
    makeTree(join(world, "other"), { "commit-0123456789ab.json": JSON.stringify({ base, acts: [] }) });
    makeTree(join(base, ".keelson-commit-0123456789ab"), { owner: deadOwner(), journal: join(world, "other/commit-0123456789ab.json") });
    await expect(open()).rejects.toThrow(/from another store that was cut off .*remove the folder/);
  });

  it("is not read where its notes are links", async () => {
    const { world, base, open } = makeWorld();
    mkdirSync(join(base, ".keelson-commit"));
    symlinkSync(join(world, "outside/secret.txt"), join(base, ".keelson-commit/owner"));
    const overlay = await open();
    await overlay.files.write("a.txt", "ours\n");
    expect(await overlay.commit()).toMatchObject({ status: "committed" });
    expect(readFileSync(join(base, "a.txt"), "utf8")).toBe("ours\n");
    expect(readFileSync(join(world, "outside/secret.txt"), "utf8")).toBe("secret\n");
  });
});

it("tells no name from outside when a folder becomes a link while its removal is committed", async () => {
  const { world, base, open } = makeWorld();
  const overlay = await open();
  await overlay.files.write("z.txt", "ours\n");
  await overlay.files.rm("d", { recursive: true });
  writeFileSync(join(base, "z.txt"), "theirs\n");
  const told: string[] = [];
  const swap = ({ path }: { readonly path: string }): "ours" => {
    told.push(path);
    if (path !== "z.txt") return "ours";
    renameSync(join(base, "d"), join(world, "was-d"));
    symlinkSync(join(world, "outside"), join(base, "d"));
    return "ours";
  };
  await overlay.commit({ resolve: swap }).catch(() => {}); // whatever stood there, it may refuse
  expect(told.filter((path) => path.includes("secret"))).toEqual([]);
  expect(readdirSync(join(world, "outside"))).toEqual(["secret.txt"]);
  rmSync(join(base, "d"), { force: true });
});
