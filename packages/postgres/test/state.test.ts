import type { Embedder, Scope, StateStore } from "@keelson/protocol";
import { createPostgres, type PgPool, type PostgresStores } from "@keelson/postgres";
import { describeStateStore } from "keelson/testing/contracts";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPglitePool, type PglitePool } from "./support/pglite-pool.ts";
import { openSharedServer, type SharedServer } from "./support/shared-server.ts";
import { isWithoutServer, needsServer } from "./support/server-binaries.ts";

const GLOBAL: Scope = { type: "global" };
const keysOf = async (store: StateStore, query: string, scope: Scope = GLOBAL): Promise<readonly string[]> =>
  (await store.search(scope, query)).map(({ key }) => key);

/** Words of one kind point one way. */
const KINDS = [
  ["coffee", "espresso", "latte"],
  ["dog", "puppy", "hound"],
  ["car", "truck"],
];

function embedderOfKinds(model = "kinds"): Embedder & { readonly asked: string[][] } {
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
}

/** By meaning, with pgvector or without. */
function describeMeaning(open: (options: object) => PostgresStores): void {
  it("finds what means the same in other words, and what both ways find first [ST-13]", async () => {
    const { state } = open({ embedder: embedderOfKinds() });
    await state.write(GLOBAL, "a", "an espresso after lunch");
    await state.write(GLOBAL, "b", "a latte, no coffee");
    await state.write(GLOBAL, "c", "the puppy sleeps");
    expect(await keysOf(state, "coffee")).toEqual(["b", "a"]);
    expect(await keysOf(state, "hound")).toEqual(["c"]);
  });

  it("has vectors made once, of what was written since, and anew by another model", async () => {
    const first = embedderOfKinds();
    const stores = open({ embedder: first });
    for (let index = 0; index < 210; index++) await stores.state.write(GLOBAL, `k${index}`, "a truck");
    expect(first.asked).toEqual([]);
    await stores.state.search(GLOBAL, "car");
    expect(first.asked.map((texts) => texts.length - 1)).toEqual([1, 200, 10]);
    await stores.state.write(GLOBAL, "k7", "a dog");
    first.asked.length = 0;
    expect((await stores.state.search(GLOBAL, "hound"))[0]?.key).toBe("k7");
    expect(first.asked).toEqual([
      ["query", "hound"],
      ["document", "k7\na dog"],
    ]);
  });

  it("goes by words while the embedder fails, and says so where they find nothing", async () => {
    const failing: Embedder = { name: "down", model: "m", embed: () => Promise.reject(new Error("no connection")) };
    const { state } = open({ embedder: failing });
    expect(await state.write(GLOBAL, "k", "text")).toBe(1);
    expect(await keysOf(state, "text")).toEqual(["k"]);
    await expect(state.search(GLOBAL, "other")).rejects.toMatchObject({
      failure: { kind: "unavailable", message: expect.stringMatching(/no connection.*Try again/) },
    });
    expect(await state.read(GLOBAL, "k")).toEqual({ value: "text", version: 1 });
  });

  it("sends the beginning of a long value, and what is refused once until it changes; all others are found by meaning", async () => {
    const kinds = embedderOfKinds();
    const picky: Embedder = {
      ...kinds,
      async embed(texts, options) {
        const result = await kinds.embed(texts, options);
        if (texts.some((text) => text.length > 8_000 || text.includes("refused"))) throw new Error("maximum input length is 8192 tokens");
        return result;
      },
    };
    const { state } = open({ embedder: picky });
    for (let index = 0; index < 20; index++) await state.write(GLOBAL, `k${index}`, index === 7 ? "a refused espresso" : "a truck");
    await state.write(GLOBAL, "long", `puppy ${"words of a page ".repeat(10_000)}`);
    expect(await keysOf(state, "hound")).toEqual(["long"]);
    expect(await keysOf(state, "refused")).toEqual(["k7"]);
    expect((await keysOf(state, "car")).length).toBe(19);
    kinds.asked.length = 0;
    expect(await keysOf(state, "espresso")).toEqual(["k7"]);
    expect(kinds.asked).toEqual([["query", "espresso"]]);
    await state.write(GLOBAL, "k7", "a latte");
    expect(await keysOf(state, "coffee")).toEqual(["k7"]);
  });

  it("remembers nothing as refused while the embedder is out of order, and keeps the vectors that it made before", async () => {
    const kinds = embedderOfKinds();
    let left = 3;
    const failing: { -readonly [K in keyof Embedder]: Embedder[K] } = {
      ...kinds,
      embed: (texts, options) =>
        left-- > 0 && !texts.includes("k1\na puppy") ? kinds.embed(texts, options) : Promise.reject(new Error("no connection")),
    };
    const { state } = open({ embedder: failing });
    await state.write(GLOBAL, "k0", "an espresso");
    await state.write(GLOBAL, "k1", "a puppy");
    // The query, both values, the first value; then the second value is refused, and so is the query.
    expect(await keysOf(state, "coffee")).toEqual(["k0"]);
    const mended = embedderOfKinds();
    failing.embed = (texts, options) => mended.embed(texts, options);
    expect(await keysOf(state, "hound")).toEqual(["k1"]);
    expect(mended.asked).toEqual([
      ["query", "hound"],
      ["document", "k1\na puppy"],
    ]);
  });
}

describe.skipIf(isWithoutServer)(`a state store on a server of PostgreSQL${needsServer}`, { timeout: 60_000 }, () => {
  let server: SharedServer;
  beforeAll(async () => {
    server = await openSharedServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  describeStateStore("a state store in PostgreSQL", () => {
    let time = 1_000_000;
    return { store: server.stores({ now: () => time }).state, advance: (ms) => void (time += ms) };
  });

  it("finds values by their words and keys, the best first, each with a part of its text [ST-06, ST-13]", async () => {
    const { state } = server.stores();
    await state.write(GLOBAL, "breakfast", "Ada likes strong coffee in the morning.");
    await state.write(GLOBAL, "lunch", { at: "noon", menu: ["soup", "bread and coffee", "coffee, coffee and coffee"] });
    await state.write(GLOBAL, "notes/coffee", "nothing");
    await state.write(GLOBAL, "dinner", "tea");
    const found = await state.search(GLOBAL, "coffees");
    expect(found.map(({ key }) => key).toSorted()).toEqual(["breakfast", "lunch", "notes/coffee"]);
    expect(found.find(({ key }) => key === "breakfast")?.snippet).toBe("Ada likes strong coffee in the morning.");
    expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).toSorted((a, b) => b - a));
    expect(await keysOf(state, "NOON")).toEqual(["lunch"]);
    expect((await state.search(GLOBAL, "coffee morning"))[0]?.key).toBe("breakfast");
    expect(await state.search(GLOBAL, "the")).toHaveLength(1);
    expect(await state.search(GLOBAL, "coffee", { limit: 1 })).toHaveLength(1);
    expect(await state.search(GLOBAL, "coffee", { minScore: 1e9 })).toEqual([]);
  });

  it("finds words with and without accents, those of other scripts, and what looks like an address", async () => {
    const { state } = server.stores();
    await state.write(GLOBAL, "a", "Café Müller");
    await state.write(GLOBAL, "b", "привет мир");
    await state.write(GLOBAL, "c", "see https://example.org/guides/harbour.html");
    expect(await keysOf(state, "cafe muller")).toEqual(["a"]);
    expect(await keysOf(state, "Cafe\u0301")).toEqual(["a"]);
    expect(await keysOf(state, "МИР")).toEqual(["b"]);
    expect(await keysOf(state, "harbour")).toEqual(["c"]);
  });

  it("finds what stands now, in its scope and of the kind and tier asked for, the salient first [ST-05, ST-10]", async () => {
    let time = 0;
    const { state } = server.stores({ now: () => time });
    await state.write(GLOBAL, "a", "alpha", { contentKind: "semantic", tier: "hot", metadata: { by: "x" } });
    await state.write(GLOBAL, "b", "alpha", { contentKind: "episodic", ttlMs: 100 });
    await state.write({ type: "session", id: "s" }, "c", "alpha");
    expect(await keysOf(state, "alpha")).toEqual(["a", "b"]);
    expect(await keysOf(state, "alpha", { type: "session", id: "s" })).toEqual(["c"]);
    expect(await state.search(GLOBAL, "alpha", { contentKind: "semantic" })).toMatchObject([{ key: "a", metadata: { by: "x" } }]);
    expect(await state.search(GLOBAL, "alpha", { tier: "hot" })).toMatchObject([{ key: "a" }]);
    time = 100;
    expect(await keysOf(state, "alpha")).toEqual(["a"]);
    await state.write(GLOBAL, "a", "beta");
    expect(await keysOf(state, "alpha")).toEqual([]);
    for (const [key, salience] of [
      ["x", 0.1],
      ["y", 0.9],
      ["z", undefined],
    ] as const)
      await state.write(GLOBAL, key, "the same words", { salience });
    expect(await keysOf(state, "same")).toEqual(["y", "z", "x"]);
  });

  it("takes no query for a command to the database", async () => {
    const { state } = server.stores();
    await state.write(GLOBAL, "k", "plain words");
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("'", "a | b", "!plain", "plain:*", "<->", "'); DROP TABLE logs; --")),
        async (query) => {
          expect(Array.isArray(await state.search(GLOBAL, query))).toBe(true);
        },
      ),
      { numRuns: 100 },
    );
    expect(await keysOf(state, "'plain' & !((")).toEqual(["k"]);
  });

  it("looks for the first 1,000 words of a query", async () => {
    const { state } = server.stores();
    await state.write(GLOBAL, "first", "w999");
    await state.write(GLOBAL, "last", "w1000");
    const words = Array.from({ length: 20_000 }, (_, index) => `w${index}`);
    expect(await keysOf(state, words.join(" "))).toEqual(["first"]);
  });

  describe("by meaning, without pgvector", () => {
    describeMeaning((options) => server.stores(options));
  });
});

describe.skipIf(isWithoutServer)(`a state store in PGlite with pgvector${needsServer}`, { timeout: 60_000 }, () => {
  let pool: PglitePool;
  const opened: PostgresStores[] = [];
  beforeAll(async () => {
    pool = await openPglitePool();
    await pool.query("CREATE EXTENSION vector");
  }, 60_000);
  afterAll(async () => {
    await Promise.all(opened.map((stores) => stores.close()));
    await pool.end();
  });

  describeMeaning((options) => {
    const stores = createPostgres({ pool: pool satisfies PgPool, schema: `state_${opened.length}`, ...options });
    opened.push(stores);
    return stores;
  });

  it("reads an integer that another program wrote, and that no double keeps, as its digits", async () => {
    const stores = createPostgres({ pool, schema: "exact" });
    opened.push(stores);
    await stores.state.write(GLOBAL, "ticket", 7, { metadata: { by: 9 } });
    await pool.query(
      `UPDATE exact.state_entries SET value = '{"id":1917043659912705296}', metadata = '{"by":18446744073709551615}' WHERE value = '7'`,
    );
    const metadata = { by: "18446744073709551615" };
    expect(await stores.state.read(GLOBAL, "ticket")).toMatchObject({ value: { id: "1917043659912705296" }, metadata });
    expect(await stores.state.search(GLOBAL, "ticket")).toMatchObject([
      { snippet: expect.stringContaining("1917043659912705296"), metadata },
    ]);
  });

  it("asks pgvector how near they are", async () => {
    pool.statements.length = 0;
    const stores = createPostgres({ pool, schema: "asked", embedder: embedderOfKinds() });
    opened.push(stores);
    await stores.state.write(GLOBAL, "a", "a dog");
    expect(await keysOf(stores.state, "puppy")).toEqual(["a"]);
    expect(pool.statements.some((statement) => statement.includes("OPERATOR(public.<#>)"))).toBe(true);
  });
});
