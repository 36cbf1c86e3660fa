import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { takeLock } from "./lock-file.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keelson-lock-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Another process that holds the lock until it is killed. */
async function holder(path: string) {
  const script = `const { takeLock } = await import(${JSON.stringify(new URL("lock-file.ts", import.meta.url).href)});
    const lock = await takeLock(${JSON.stringify(path)});
    console.log(lock === undefined ? "refused" : "held");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  return {
    said: said.toString().trim(),
    async kill() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

it("is held by one, and free again when that lets go of it", async () => {
  const path = join(folder, "lock");
  const first = await takeLock(path);
  expect(first).toBeDefined();
  expect(await takeLock(path)).toBeUndefined();
  await first?.[Symbol.asyncDispose]();
  expect(await readdir(folder)).toEqual([]);
  await using again = await takeLock(path);
  expect(again).toBeDefined();
});

it("is not taken from a process that lives, and taken over from one that was killed, by exactly one of those who come at once", async () => {
  const path = join(folder, "lock");
  const other = await holder(path);
  expect([other.said, await takeLock(path)]).toEqual(["held", undefined]);
  await other.kill();
  const taken = await Promise.all(Array.from({ length: 12 }, () => takeLock(path)));
  const [lock, ...more] = taken.filter((one) => one !== undefined);
  expect([lock !== undefined, more]).toEqual([true, []]);
  expect(await readdir(folder)).toEqual(["lock"]);
  await lock?.[Symbol.asyncDispose]();
  expect(await readdir(folder)).toEqual([]);
});

it("is taken over also where a process was killed while it took one over", async () => {
  const path = join(folder, "lock");
  const first = await holder(path);
  const dead = await readFile(path, "utf8");
  await first.kill();
  // What the next one writes before it removes the lock.
  const { createHash } = await import("node:crypto");
  const second = await holder(`${path}.${createHash("sha256").update(dead).digest("hex").slice(0, 16)}`);
  expect([second.said, await takeLock(path)]).toEqual(["held", undefined]);
  await second.kill();
  await using lock = await takeLock(path);
  expect([lock !== undefined, await readdir(folder)]).toEqual([true, ["lock"]]);
});

it("stays with somebody of whom nobody knows whether they live", async () => {
  const path = join(folder, "lock");
  await writeFile(path, "1@another-host:7:abc:4026\n");
  expect(await takeLock(path)).toBeUndefined();
});
