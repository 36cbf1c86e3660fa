import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StateError } from "@keelson/protocol";
import { afterAll, expect, it } from "vitest";
import { describeStateStore } from "../../testing/state-store-contract.ts";
import { createFsStore } from "./fs-store.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-state-"));
afterAll(() => rmSync(folder, { recursive: true }));
let stores = 0;
const newRoot = (): string => join(folder, String(++stores));
const SESSION = { type: "session", id: "s1" } as const;

describeStateStore("createFsStore", () => {
  let time = 1_000_000;
  return { store: createFsStore({ root: newRoot(), now: () => time }), advance: (ms) => void (time += ms) };
});

it("lays each key into a file that people can read, and another store reads it after a restart [ST-09]", async () => {
  const root = newRoot();
  const first = createFsStore(root);
  await first.write(SESSION, "user_preference", { theme: "dark" }, { tier: "hot", metadata: { by: "test" } });
  await first.write(SESSION, "history/turn-1", "hello");
  await first.write({ type: "operator", id: "coder" }, "config", 1);
  await first[Symbol.asyncDispose]();
  expect(
    readdirSync(root, { recursive: true })
      .filter((name) => String(name).endsWith(".json"))
      .sort(),
  ).toEqual(["operator/coder/config.json", "session/s1/history/turn-1.json", "session/s1/user_preference.json"]);
  expect(JSON.parse(readFileSync(join(root, "session/s1/user_preference.json"), "utf8"))).toEqual({
    key: "user_preference",
    version: 1,
    tier: "hot",
    metadata: { by: "test" },
    value: { theme: "dark" },
  });
  await using second = createFsStore(root);
  expect(await second.read(SESSION, "user_preference")).toEqual({
    value: { theme: "dark" },
    version: 1,
    tier: "hot",
    metadata: { by: "test" },
  });
  expect(await second.list(SESSION, "history/")).toEqual(["history/turn-1"]);
});

it("removes folders with the last key in them, and leaves files alone that are not its own", async () => {
  const root = newRoot();
  await using store = createFsStore(root);
  await store.write(SESSION, "a/b/c", 1);
  await store.write(SESSION, "a/d", 1);
  writeFileSync(join(root, "session/s1/notes.txt"), "a person's");
  await store.delete(SESSION, "a/b/c");
  expect(readdirSync(join(root, "session/s1/a"))).toEqual(["d.json"]);
  expect(await store.list(SESSION, "")).toEqual(["a/d"]);
  expect(readdirSync(join(root, "session/s1")).sort()).toEqual(["a", "notes.txt"]);
});

it("says which file is damaged, and leaves it as it is", async () => {
  const root = newRoot();
  await using store = createFsStore(root);
  await store.write(SESSION, "k", 1);
  const file = join(root, "session/s1/k.json");
  for (const text of ["", "{", "null", "{}", '{"version":1}']) {
    writeFileSync(file, text);
    for (const act of [() => store.read(SESSION, "k"), () => store.write(SESSION, "k", 2)]) {
      const error = await act().catch((reason: unknown) => reason);
      expect(StateError.is(error, "corrupt") && error.message).toContain(file);
    }
    expect(readFileSync(file, "utf8")).toBe(text);
  }
  await store.delete(SESSION, "k");
  expect(await store.write(SESSION, "k", 2)).toBe(1);
});

it("says so where its folder can't be, and what to do", async () => {
  const root = newRoot();
  mkdirSync(root);
  writeFileSync(join(root, "session"), "a file in the way");
  await using store = createFsStore(root);
  const error = await store.write(SESSION, "k", 1).catch((reason: unknown) => reason);
  expect(StateError.is(error)).toBe(true);
  expect(() => createFsStore("")).toThrow(/needs the path of a folder/);
});
