import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, openSync, closeSync, readdirSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Scope, StateError, type StateStore } from "@keelson/protocol";
import { createFsStore, createSqliteStore } from "keelson/state";
import { afterAll, describe, expect, it } from "vitest";

const folder = await mkdtemp(join(tmpdir(), "keelson-state-faults-"));
afterAll(() => rmSync(folder, { recursive: true }));
const SCOPE: Scope = { type: "global" };
const STORES = {
  file: (path: string): StateStore => createFsStore(path),
  sqlite: (path: string): StateStore => createSqliteStore(path),
};
const text = (index: number): string => `${index} ${"x".repeat(5000)}`;
const failureOf = async (action: () => Promise<unknown>): Promise<StateError["failure"] | undefined> => {
  try {
    await action();
    return undefined;
  } catch (error) {
    if (!StateError.is(error)) throw error;
    return (error as StateError).failure;
  }
};

describe.each(["file", "sqlite"] as const)("a state store of kind %s", (kind) => {
  it("keeps what it has where the disk is full, says so, and goes on when there is space again", async (context) => {
    const mount = join(folder, `full-${kind}`);
    mkdirSync(mount);
    if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", mount]).status !== 0) return context.skip("mounting needs privileges");
    try {
      const ballast = join(mount, "ballast");
      writeFileSync(ballast, Buffer.alloc(300_000));
      const path = join(mount, "store");
      let kept = 0;
      let failure: StateError["failure"] | undefined;
      {
        await using store = STORES[kind](path);
        for (; failure === undefined && kept < 1000; kept++) failure = await failureOf(() => store.write(SCOPE, `k${kept}`, text(kept)));
        kept--;
        expect(failure).toMatchObject({ kind: "full", message: expect.stringContaining("Free space") });
        for (let index = 0; index < kept; index++) expect((await store.read(SCOPE, `k${index}`))?.value).toBe(text(index));
        expect(await store.read(SCOPE, `k${kept}`)).toBeUndefined();
        rmSync(ballast);
        expect(await store.write(SCOPE, "k0", "new")).toBe(2);
      }
      await using again = STORES[kind](path);
      expect(await again.list(SCOPE, "")).toHaveLength(kept);
      expect((await again.read(SCOPE, "k0"))?.value).toBe("new");
    } finally {
      spawnSync("umount", [mount]);
    }
  });

  it.runIf(process.platform === "linux")("says what to check where this user may not write, and what is there stays", async () => {
    const place = join(folder, `guarded-${kind}`);
    mkdirSync(place);
    const path = join(place, "store");
    await using store = STORES[kind](path);
    await store.write(SCOPE, "k", "kept");
    const open = spawnSync("chmod", ["-R", "a+rX,a-w", place]);
    expect(open.status).toBe(0);
    chmodSync(folder, 0o755);
    const script = `
      const { createFsStore, createSqliteStore } = await import(${JSON.stringify(new URL("../../src/state/index.ts", import.meta.url).href)});
      if (process.getuid() === 0) process.setuid(65534);
      try {
        const store = ${kind === "file" ? "createFsStore" : "createSqliteStore"}(${JSON.stringify(path)});
        await store.write({ type: "global" }, "k", "theirs");
        console.log("written");
      } catch (error) { console.log(error.name, error.failure.kind, error.message); }`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--conditions=source", "--input-type=module", "-e", script], {
      encoding: "utf8",
    });
    expect(stdout, stderr).toMatch(/^StateError (write-failed|other) .*EACCES.*Check the permissions/);
    expect((await store.read(SCOPE, "k"))?.value).toBe("kept");
    spawnSync("chmod", ["-R", "u+w", place]);
    expect(await store.write(SCOPE, "k", "after")).toBe(2);
  });
});

it("gives of a damaged SQLite file what it was given or an error that says what to do, and changes nothing in it", async () => {
  const path = join(folder, "damaged.db");
  {
    await using store = createSqliteStore({ path, durability: "process" });
    for (let index = 0; index < 100; index++) await store.write(SCOPE, `k${index}`, text(index));
  }
  const size = statSync(path).size;
  const file = openSync(path, "r+");
  for (let page = 20; page < size / 4096; page += 7) writeSync(file, Buffer.alloc(4096, 0xa5), 0, 4096, page * 4096);
  closeSync(file);
  await using store = createSqliteStore(path);
  let damaged = 0;
  for (let index = 0; index < 100; index++) {
    const failure = await failureOf(async () => expect((await store.read(SCOPE, `k${index}`))?.value).toBe(text(index)));
    if (failure === undefined) continue;
    damaged++;
    expect(failure).toMatchObject({ kind: "corrupt", message: expect.stringMatching(/damaged\.db is damaged.*left as it is.*backup/) });
  }
  expect(damaged).toBeGreaterThan(0);
  expect(
    readdirSync(folder)
      .filter((name) => name.startsWith("damaged.db"))
      .toSorted(),
  ).toContain("damaged.db");
  expect(statSync(path).size).toBe(size);
});
