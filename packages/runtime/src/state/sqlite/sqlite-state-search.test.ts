import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import type { Embedder, Scope, StateStore } from "@keelson/protocol";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { openSqliteDatabase } from "./sqlite-database.ts";
import { createSqliteStore } from "./sqlite-store.ts";
import { nearest } from "./sqlite-state-vectors.ts";
import { hasVectorFunctions } from "./sqlite-vector-functions.ts";

const folder = await mkdtemp(join(tmpdir(), "keelson-state-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);
const GLOBAL: Scope = { type: "global" };
const keysOf = async (store: StateStore, query: string): Promise<readonly string[]> =>
  (await store.search(GLOBAL, query)).map(({ key }) => key);

it("reads an integer that another program wrote, and that no double keeps, as its digits", async () => {
  const path = newPath();
  const asked: string[][] = [];
  const embedder: Embedder = {
    name: "test",
    model: "m",
    async embed(texts) {
      asked.push([...texts]);
      return { vectors: texts.map(() => [1]), usage: { inputTokens: null }, model: "m" };
    },
  };
  await using store = createSqliteStore({ path, embedder });
  await store.write(GLOBAL, "ticket", 7, { metadata: { by: 9 } });
  using database = new DatabaseSync(path);
  database.exec(`UPDATE state_entries SET value = '{"id":1917043659912705296}', metadata = '{"by":18446744073709551615}'`);
  const metadata = { by: "18446744073709551615" };
  expect(await store.read(GLOBAL, "ticket")).toMatchObject({ value: { id: "1917043659912705296" }, metadata });
  expect(await store.search(GLOBAL, "ticket")).toMatchObject([{ snippet: expect.stringContaining("1917043659912705296"), metadata }]);
  expect(asked.flat().some((text) => text.includes("1917043659912705296"))).toBe(true);
});

describe("a search by meaning", () => {
  /** Words of one kind point one way. */
  const KINDS = [
    ["coffee", "espresso", "latte"],
    ["dog", "puppy", "hound"],
    ["car", "truck"],
  ];
  const embedder = (model = "kinds"): Embedder & { readonly asked: string[][] } => {
    const asked: string[][] = [];
    return {
      name: "test",
      model,
      asked,
      async embed(texts, { purpose } = {}) {
        asked.push([purpose ?? "", ...texts]);
        const vectors = texts.map((text) => KINDS.map((words) => words.filter((word) => text.includes(word)).length * 3));
        return { vectors, usage: { inputTokens: null }, model };
      },
    };
  };

  it("finds what means the same in other words, and what both ways find first [ST-13]", async () => {
    await using store = createSqliteStore({ path: newPath(), embedder: embedder() });
    await store.write(GLOBAL, "a", "an espresso after lunch");
    await store.write(GLOBAL, "b", "a latte, no coffee");
    await store.write(GLOBAL, "c", "the puppy sleeps");
    expect(await keysOf(store, "coffee")).toEqual(["b", "a"]);
    expect(await keysOf(store, "hound")).toEqual(["c"]);
  });

  it("has vectors made once, of what was written since, and anew by another model", async () => {
    const path = newPath();
    const first = embedder();
    await using store = createSqliteStore({ path, embedder: first });
    for (let index = 0; index < 450; index++) await store.write(GLOBAL, `k${index}`, "a truck", { ttlMs: 1e12 });
    expect(first.asked).toEqual([]);
    await store.search(GLOBAL, "car");
    expect(first.asked.map((texts) => texts.length - 1)).toEqual([1, 200, 200, 50]);
    await store.write(GLOBAL, "k7", "a dog");
    first.asked.length = 0;
    expect((await store.search(GLOBAL, "hound"))[0]?.key).toBe("k7");
    expect(first.asked).toEqual([
      ["query", "hound"],
      ["document", "k7\na dog"],
    ]);
    const second = embedder("another");
    await using other = createSqliteStore({ path, embedder: second });
    await other.search(GLOBAL, "car");
    expect(second.asked.flat()).toHaveLength(450 + 1 + 4);
  });

  it("ends with the store where that is disposed of while the embedder works", async () => {
    const asked = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const slow: Embedder = {
      ...embedder(),
      async embed(texts) {
        asked.resolve();
        await gate.promise;
        return { vectors: texts.map(() => [1]), usage: { inputTokens: null }, model: "m" };
      },
    };
    const store = createSqliteStore({ path: newPath(), embedder: slow });
    await store.write(GLOBAL, "k", "text");
    const searching = store.search(GLOBAL, "text");
    await asked.promise;
    await store[Symbol.asyncDispose]();
    gate.resolve();
    await expect(searching).rejects.toMatchObject({ failure: { kind: "closed" } });
  });

  it("finds with sqlite-vec what it finds without, in the same order", async (context) => {
    const probe = openSqliteDatabase(newPath());
    const isThere = await hasVectorFunctions(probe.connection);
    probe.close();
    if (!isThere) return context.skip("sqlite-vec is not installed for this platform");
    const vector = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 3, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fc.array(vector, { maxLength: 12 }), vector, async (documents, query) => {
        const made: Embedder = {
          name: "given",
          model: "given",
          async embed(texts, { purpose } = {}) {
            const vectors = texts.map((text) => (purpose === "query" ? query : (documents[Number(text.split("\n")[0]?.slice(1))] ?? [])));
            return { vectors, usage: { inputTokens: null }, model: "given" };
          },
        };
        const path = newPath();
        await using store = createSqliteStore({ path, embedder: made, durability: "process" });
        for (const index of documents.keys()) await store.write(GLOBAL, `k${index}`, "x");
        await store.search(GLOBAL, "nothing");
        const database = openSqliteDatabase(path);
        expect(await hasVectorFunctions(database.connection)).toBe(true);
        const [{ id: scope } = { id: 0 }] = database.connection.prepare("SELECT id FROM state_scopes").all() as { id: number }[];
        const wanted = { sql: "e.scope = ?1 AND ?2 IS NULL AND ?3 IS NULL AND ?4 IS NULL", values: [scope, null, null, null] };
        const found = (isNative: boolean) => nearest(database, wanted, "given", query, { most: 4, isNative });
        expect(await found(true)).toEqual(await found(false));
        database.close();
      }),
      { numRuns: 50 },
    );
  });

  it("goes by words while the embedder fails, and says so where they find nothing", async () => {
    const failing: Embedder = { name: "down", model: "m", embed: () => Promise.reject(new Error("no connection")) };
    await using store = createSqliteStore({ path: newPath(), embedder: failing });
    expect(await store.write(GLOBAL, "k", "text")).toBe(1);
    expect(await keysOf(store, "text")).toEqual(["k"]);
    await expect(store.search(GLOBAL, "other")).rejects.toMatchObject({
      failure: { kind: "unavailable", message: expect.stringMatching(/no connection.*Try again/) },
    });
    expect(await store.read(GLOBAL, "k")).toEqual({ value: "text", version: 1 });
  });

  it("sends the beginning of a long value, and what is refused once until it changes; all others are found by meaning", async () => {
    const kinds = embedder();
    const picky: Embedder = {
      ...kinds,
      async embed(texts, options) {
        const result = await kinds.embed(texts, options);
        if (texts.some((text) => text.length > 8_000 || text.includes("refused"))) throw new Error("maximum input length is 8192 tokens");
        return result;
      },
    };
    await using store = createSqliteStore({ path: newPath(), embedder: picky });
    for (let index = 0; index < 20; index++) await store.write(GLOBAL, `k${index}`, index === 7 ? "a refused espresso" : "a truck");
    await store.write(GLOBAL, "long", `puppy ${"words of a page ".repeat(10_000)}`);
    expect(await keysOf(store, "hound")).toEqual(["long"]);
    expect(await keysOf(store, "refused")).toEqual(["k7"]);
    expect((await keysOf(store, "car")).length).toBe(19);
    kinds.asked.length = 0;
    expect(await keysOf(store, "espresso")).toEqual(["k7"]);
    expect(kinds.asked).toEqual([["query", "espresso"]]);
    await store.write(GLOBAL, "k7", "a latte");
    expect(await keysOf(store, "coffee")).toEqual(["k7"]);
  });

  it("remembers nothing as refused while the embedder is out of order, and keeps the vectors that it made before", async () => {
    const kinds = embedder();
    let left = 3;
    const failing: { -readonly [K in keyof Embedder]: Embedder[K] } = {
      ...kinds,
      embed: (texts, options) =>
        left-- > 0 && !texts.includes("k1\na puppy") ? kinds.embed(texts, options) : Promise.reject(new Error("no connection")),
    };
    await using store = createSqliteStore({ path: newPath(), embedder: failing });
    await store.write(GLOBAL, "k0", "an espresso");
    await store.write(GLOBAL, "k1", "a puppy");
    // The query, both values, the first value; then the second value is refused, and so is the query.
    expect(await keysOf(store, "coffee")).toEqual(["k0"]);
    const mended = embedder();
    failing.embed = (texts, options) => mended.embed(texts, options);
    expect(await keysOf(store, "hound")).toEqual(["k1"]);
    expect(mended.asked).toEqual([
      ["query", "hound"],
      ["document", "k1\na puppy"],
    ]);
  });
});
