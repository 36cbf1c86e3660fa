import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type LogId, type Scope, StateError, type StateStore } from "@keelson/protocol";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { describeStateStore } from "../../testing/state-store-contract.ts";
import { createSqliteEventLog } from "./sqlite-event-log.ts";
import { createSqliteStore } from "./sqlite-store.ts";

const folder = await mkdtemp(join(tmpdir(), "keelson-state-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);
const GLOBAL: Scope = { type: "global" };
const keysOf = async (store: StateStore, query: string, scope: Scope = GLOBAL): Promise<readonly string[]> =>
  (await store.search(scope, query)).map(({ key }) => key);

describeStateStore("createSqliteStore", () => {
  let time = 1_000_000;
  return { store: createSqliteStore({ path: newPath(), now: () => time, durability: "process" }), advance: (ms) => void (time += ms) };
});

it("keeps values in the file of a log, where other stores find them [ST-13]", async () => {
  const path = newPath();
  await using log = createSqliteEventLog(path);
  const first = createSqliteStore(path);
  await using second = createSqliteStore({ path });
  await first.write(GLOBAL, "k", "kept");
  expect(await second.read(GLOBAL, "k")).toEqual({ value: "kept", version: 1 });
  await first[Symbol.asyncDispose]();
  expect(await second.write(GLOBAL, "k", "again", { ifVersion: 1 })).toBe(2);
  await log.append("l" as LogId, 0, [{ key: "k", type: "t", data: {} }], { durability: "power" });
});

it("says what is wrong with a file that it can't use", async () => {
  const path = newPath();
  const other = new DatabaseSync(path);
  other.exec("CREATE TABLE theirs (x)");
  other.close();
  for (const open of [() => createSqliteStore(path), () => createSqliteStore("")])
    expect(open).toThrow(expect.objectContaining({ failure: expect.objectContaining({ kind: "invalid-input" }) }));
  await createSqliteStore(newPath())[Symbol.asyncDispose]();
  const newer = newPath();
  await createSqliteStore(newer)[Symbol.asyncDispose]();
  const raw = new DatabaseSync(newer);
  raw.exec("PRAGMA user_version = 99");
  raw.close();
  expect(() => createSqliteStore(newer)).toThrow(StateError);
  expect(() => createSqliteStore(newer)).toThrow(/schema version 99.*Update Keelson/);
});

describe("a search by words", () => {
  it("finds values by their words and keys, the best first, each with a part of its text [ST-06, ST-13]", async () => {
    await using store = createSqliteStore(newPath());
    await store.write(GLOBAL, "breakfast", "Ada likes strong coffee in the morning.");
    await store.write(GLOBAL, "lunch", { at: "noon", menu: ["soup", "bread and coffee", "coffee, coffee and coffee"] });
    await store.write(GLOBAL, "notes/coffee", "nothing");
    await store.write(GLOBAL, "dinner", "tea");
    const found = await store.search(GLOBAL, "coffees");
    expect(found.map(({ key }) => key).toSorted()).toEqual(["breakfast", "lunch", "notes/coffee"]);
    expect(found.find(({ key }) => key === "breakfast")?.snippet).toBe("Ada likes strong coffee in the morning.");
    expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).toSorted((a, b) => b - a));
    expect(await keysOf(store, "NOON")).toEqual(["lunch"]);
    expect((await store.search(GLOBAL, "coffee morning"))[0]?.key).toBe("breakfast");
    expect(await store.search(GLOBAL, "coffee", { limit: 1 })).toHaveLength(1);
    expect(await store.search(GLOBAL, "coffee", { minScore: 1e9 })).toEqual([]);
  });

  it("looks at few pieces of the index, which those who write merge a few pages at a time", async () => {
    const piecesIn = (path: string): unknown => {
      using database = new DatabaseSync(path);
      return database.prepare("SELECT count(DISTINCT segid) AS pieces FROM state_text_idx").get()?.["pieces"];
    };
    const path = newPath();
    await using store = createSqliteStore({ path, durability: "process" });
    for (let index = 0; index < 15 * 16; index++) {
      await store.write(GLOBAL, `k${index}`, `word number${index}`);
      if (index % 16 === 15) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(piecesIn(path)).toBeLessThan(8);
    expect(await keysOf(store, "number239")).toEqual(["k239"]);

    const little = newPath();
    for (let process = 0; process < 15; process++) {
      await using brief = createSqliteStore({ path: little, durability: "process" });
      await brief.write(GLOBAL, `k${process}`, "word");
    }
    expect(piecesIn(little)).toBeLessThan(8);
  });

  it("finds words with and without accents, and those of other scripts", async () => {
    await using store = createSqliteStore(newPath());
    await store.write(GLOBAL, "a", "Café Müller");
    await store.write(GLOBAL, "b", "привет мир");
    expect(await keysOf(store, "cafe muller")).toEqual(["a"]);
    expect(await keysOf(store, "Cafe\u0301")).toEqual(["a"]);
    expect(await keysOf(store, "МИР")).toEqual(["b"]);
  });

  it("finds what stands now, in its scope and of the kind and tier asked for [ST-05, ST-10]", async () => {
    let time = 0;
    await using store = createSqliteStore({ path: newPath(), now: () => time });
    await store.write(GLOBAL, "a", "alpha", { contentKind: "semantic", tier: "hot", metadata: { by: "x" } });
    await store.write(GLOBAL, "b", "alpha", { contentKind: "episodic", ttlMs: 100 });
    await store.write({ type: "session", id: "s" }, "c", "alpha");
    expect(await keysOf(store, "alpha")).toEqual(["a", "b"]);
    expect(await keysOf(store, "alpha", { type: "session", id: "s" })).toEqual(["c"]);
    expect(await store.search(GLOBAL, "alpha", { contentKind: "semantic" })).toMatchObject([{ key: "a", metadata: { by: "x" } }]);
    expect(await store.search(GLOBAL, "alpha", { tier: "hot" })).toMatchObject([{ key: "a" }]);
    time = 100;
    expect(await keysOf(store, "alpha")).toEqual(["a"]);
    await store.write(GLOBAL, "a", "beta");
    expect(await keysOf(store, "alpha")).toEqual([]);
    expect(await keysOf(store, "beta")).toEqual(["a"]);
    await store.delete(GLOBAL, "a");
    expect(await keysOf(store, "beta")).toEqual([]);
  });

  it("puts what its writer called salient before what is as relevant", async () => {
    await using store = createSqliteStore(newPath());
    for (const [key, salience] of [
      ["a", 0.1],
      ["b", 0.9],
      ["c", undefined],
    ] as const)
      await store.write(GLOBAL, key, "the same words", { salience });
    expect(await keysOf(store, "same")).toEqual(["b", "c", "a"]);
  });

  it("takes no query for a command to the database", async () => {
    await using store = createSqliteStore(newPath());
    await store.write(GLOBAL, "k", "plain words");
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: "grapheme" }),
          fc.constantFrom('"', "a OR", "scope : x", "NEAR(", "-text:", "*", "^plain", "AND", "'); DROP TABLE logs; --"),
        ),
        async (query) => {
          expect(Array.isArray(await store.search(GLOBAL, query))).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
    expect(await keysOf(store, '"plain" NOT ((')).toEqual(["k"]);
  });

  it("finds each key by the word that its last value holds, whatever was written and deleted before", async () => {
    const act = fc.record({
      key: fc.constantFrom("a", "b", "c"),
      word: fc.option(fc.constantFrom("one", "two", "three")),
      scope: fc.constantFrom("x", "y"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 20 }), async (acts) => {
        await using store = createSqliteStore({ path: newPath(), durability: "process" });
        const held = new Map<string, string>();
        for (const { key, word, scope } of acts) {
          if (word === null) await store.delete({ type: "session", id: scope }, key);
          else await store.write({ type: "session", id: scope }, key, { text: [word] });
          held.set(`${scope}/${key}`, word ?? "");
        }
        for (const scope of ["x", "y"])
          for (const word of ["one", "two", "three"])
            expect((await keysOf(store, word, { type: "session", id: scope })).toSorted()).toEqual(
              [...held].flatMap(([place, kept]) => (kept === word && place.startsWith(scope) ? [place.slice(2)] : [])).toSorted(),
            );
      }),
      { numRuns: 20 },
    );
  });

  it("looks for the first 1,000 words of a query", async () => {
    await using store = createSqliteStore({ path: newPath(), durability: "process" });
    await store.write(GLOBAL, "first", "w999");
    await store.write(GLOBAL, "last", "w1000");
    const words = Array.from({ length: 20_000 }, (_, index) => `w${index}`);
    expect(await keysOf(store, words.join(" "))).toEqual(["first"]);
  });
});
