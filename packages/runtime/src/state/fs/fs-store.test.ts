import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { StateError } from "@keelson/protocol";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { processOwner } from "../../platform/process-owner.ts";
import { describeStateStore } from "../../testing/state-store-contract.ts";
import { createFsStore } from "./fs-store.ts";
import { keyPath, scopePath } from "./key-path.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-state-"));
afterAll(() => rmSync(folder, { recursive: true }));
let stores = 0;
const newRoot = (): string => join(folder, String(++stores));
const SESSION = { type: "session", id: "s1" } as const;

describeStateStore("createFsStore", () => {
  let time = 1_000_000;
  return { store: createFsStore({ root: newRoot(), now: () => time }), advance: (ms) => void (time += ms) };
});

describeStateStore("createFsStore with format markdown", () => {
  let time = 1_000_000;
  const store = createFsStore({ root: newRoot(), format: "markdown", now: () => time });
  return { store, advance: (ms) => void (time += ms) };
});

it("keeps text in Markdown files that people can edit, and other values as blocks of JSON in them [LA-12]", async () => {
  const root = newRoot();
  await using store = createFsStore({ root, format: "markdown" });
  await store.write(SESSION, "notes/style", "# Style\n\n- short sentences\n", { metadata: { by: "test" } });
  await store.write(SESSION, "settings", { theme: "dark" });
  const file = (name: string): string => join(root, "session/s1", name);
  expect(readFileSync(file("notes/style.md"), "utf8")).toBe(
    '---\nkey: "notes/style"\nversion: 1\nmetadata: {"by":"test"}\n---\n\n# Style\n\n- short sentences\n\n',
  );
  expect(readFileSync(file("settings.md"), "utf8")).toBe(
    '---\nkey: "settings"\nversion: 1\ntype: "json"\n---\n\n```json\n{\n  "theme": "dark"\n}\n```\n',
  );
  writeFileSync(file("notes/style.md"), readFileSync(file("notes/style.md"), "utf8").replace("short", "plain"));
  expect((await store.read(SESSION, "notes/style"))?.value).toBe("# Style\n\n- plain sentences\n");
  writeFileSync(file("notes/style.md"), "no front matter");
  await expect(store.read(SESSION, "notes/style")).rejects.toThrow(/style\.md is damaged: it does not begin with front matter/);
});

it.each(["json", "markdown"] as const)(
  "reads an integer that another program wrote in %s, and that no double keeps, as its digits",
  async (format) => {
    const root = newRoot();
    await using store = createFsStore({ root, format });
    await store.write(SESSION, "ticket", { id: 7, list: [8, 0.5] }, { metadata: { by: 9 } });
    const file = join(root, `session/s1/ticket.${format === "json" ? "json" : "md"}`);
    const digits = { 7: "1917043659912705296", 8: "-9007199254740993", 9: "18446744073709551615" };
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace(/\b[789]\b/g, (digit) => digits[digit as unknown as keyof typeof digits]),
    );
    const expected = { value: { id: digits[7], list: [digits[8], 0.5] }, metadata: { by: digits[9] } };
    expect(await store.read(SESSION, "ticket")).toMatchObject(expected);
    await store.write(SESSION, "ticket", expected.value, { metadata: expected.metadata });
    expect(await store.read(SESSION, "ticket")).toMatchObject(expected);
  },
);

it("keeps every text in Markdown as it is", async () => {
  await using store = createFsStore({ root: newRoot(), format: "markdown" });
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(fc.constantFrom("---", "\n", "\r\n", "```json", "```", "\ud83d", "a: 1", " ", "\ufeff")).map((parts) => parts.join("")),
  );
  await fc.assert(
    fc.asyncProperty(text, async (value) => {
      await store.write(SESSION, "k", value);
      expect((await store.read(SESSION, "k"))?.value).toBe(value);
    }),
    { examples: [["\r"], ["line\r\n"]] },
  );
});

it("refuses a folder that holds values in the other form, and ignores files that are not of a store", async () => {
  const root = newRoot();
  await using json = createFsStore(root);
  await json.write(SESSION, "a", 1);
  writeFileSync(join(root, "session/s1/README.md"), "a person's");
  expect(await json.list(SESSION, "")).toEqual(["a"]);
  expect(await json.read(SESSION, "README")).toBeUndefined();
  await using markdown = createFsStore({ root, format: "markdown" });
  const refused = /a\.json holds a value as json, and this store was opened for markdown\. Open it with format "json"/;
  await expect(markdown.read(SESSION, "a")).rejects.toThrow(refused);
  await expect(markdown.list(SESSION, "")).rejects.toThrow(refused);
  await expect(markdown.write(SESSION, "a", 2)).rejects.toThrow(refused);
  expect(() => createFsStore({ root, format: "yaml" as "json" })).toThrow(/format is "yaml": use "json" or "markdown"/);
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

const leftBy = (root: string, pattern: RegExp): readonly string[] =>
  readdirSync(root, { recursive: true })
    .map(String)
    .filter((name) => pattern.test(name))
    .sort();
const DRAFTS = /\.[0-9a-f]{12,16}$/;
const DEAD = `${processOwner().replace(/^\d+/, "4194304")}:instance\n`;

it("removes what killed processes left behind when it first writes into the scope, and what may still be in use it leaves", async () => {
  const root = newRoot();
  await createFsStore(root).write(SESSION, "a/b", 1);
  const scope = join(root, "session/s1");
  writeFileSync(join(scope, "a/b.json.0123456789ab"), "a secret");
  mkdirSync(join(scope, "c"));
  writeFileSync(join(scope, "c/d.json.0123456789ab"), "a secret");
  writeFileSync(join(scope, ".lock.0123456789ab"), DEAD);
  writeFileSync(join(scope, ".lock.0123456789abcdef.0123456789ab"), DEAD);
  writeFileSync(join(scope, ".lock.000000000000"), "");
  writeFileSync(join(scope, ".lock.111111111111"), "");
  utimesSync(join(scope, ".lock.111111111111"), 1, 1);
  writeFileSync(join(scope, ".lock.222222222222"), `${processOwner("another")}\n`);
  await using store = createFsStore(root);
  await store.write(SESSION, "z", 1);
  expect(leftBy(root, DRAFTS)).toEqual(["session/s1/.lock.000000000000", "session/s1/.lock.222222222222"]);
  expect(readdirSync(scope).filter((name) => !name.startsWith("."))).toEqual(["a", "z.json"]);
});

it("removes what a process left that was killed while it wrote, whoever takes over its lock", async () => {
  const root = newRoot();
  await using store = createFsStore(root);
  await store.write(SESSION, "a", 1);
  writeFileSync(join(root, "session/s1/.lock"), DEAD);
  writeFileSync(join(root, "session/s1/b.json.0123456789ab"), "a secret");
  await store.write(SESSION, "c", 1);
  expect(readdirSync(join(root, "session/s1")).sort()).toEqual(["a.json", "c.json"]);
});

it("removes what was left behind when it lists a scope or deletes the key, and not while another process writes", async () => {
  const root = newRoot();
  await using store = createFsStore(root);
  await store.write(SESSION, "a", 1);
  const scope = join(root, "session/s1");
  writeFileSync(join(scope, "b.json.0123456789ab"), "a secret");
  writeFileSync(join(scope, ".lock"), `${processOwner("another")}\n`);
  expect(await store.list(SESSION, "")).toEqual(["a"]);
  expect(leftBy(root, DRAFTS)).toHaveLength(1);
  rmSync(join(scope, ".lock"));
  expect(await store.list(SESSION, "")).toEqual(["a"]);
  expect(readdirSync(scope)).toEqual(["a.json"]);
  writeFileSync(join(scope, "a.json.0123456789ab"), "a secret");
  await store.delete(SESSION, "a");
  expect(readdirSync(scope)).toEqual([]);
});

it("keeps any key in any scope, however long their paths would be, and goes on with long ones that are there", async () => {
  const root = newRoot();
  const key = "É".repeat(512);
  const long = { type: "session", id: "É".repeat(200) } as const;
  await using store = createFsStore(root);
  for (const scope of [long, { type: "custom", namespace: "Team".repeat(400), id: "X".repeat(800) }, SESSION] as const) {
    expect(await store.write(scope, key, "É")).toBe(1);
    expect(await store.write(scope, "/".repeat(1024), 1)).toBe(1);
    expect(await store.write(scope, "short", 1)).toBe(1);
    expect(await createFsStore(root).read(scope, key)).toEqual({ value: "É", version: 1 });
    expect(await store.list(scope, "")).toEqual(["/".repeat(1024), "short", key]);
    await store.delete(scope, key);
    expect(await store.list(scope, "É")).toEqual([]);
  }
  // As earlier versions wrote them.
  const file = join(root, scopePath(long), keyPath("É".repeat(100), ".json"));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ key: "É".repeat(100), version: 7, value: "old" }));
  expect(await store.list(long, "")).toEqual(["É".repeat(100)]);
  expect(await store.write(long, "É".repeat(100), "new", { ifVersion: 7 })).toBe(8);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ value: "new", version: 8 });
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
