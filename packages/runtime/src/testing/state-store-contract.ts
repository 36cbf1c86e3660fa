import { type JsonValue, type Scope, StateError, type StateStore } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

export interface StateStoreSubject {
  readonly store: StateStore;
  /** Moves the clock that the store goes by. */
  advance(ms: number): void;
}

const GLOBAL: Scope = { type: "global" };
/** Each is close to another. */
const SCOPES: readonly Scope[] = [
  GLOBAL,
  { type: "operator", id: "a" },
  { type: "operator", id: "A" },
  { type: "session", id: "a" },
  { type: "session", id: "a/b" },
  { type: "session", id: "a%2Fb" },
  { type: "session", id: ".." },
  { type: "workflow", id: "a" },
  { type: "custom", namespace: "a", id: "b" },
  { type: "custom", namespace: "a/b", id: "c" },
  { type: "custom", namespace: "a", id: "b/c" },
];
/** What tempts stores to take one for another, or to leave the place where they are. */
const KEYS: readonly string[] = [
  ...["a", "A", "a.json", "a/b", "a.json/b", "a/", "/a", "//", "a//b", ".", "..", "../a", "a/../b", "~", "%", "%2e", "con", " "],
  ...[
    "é",
    "e\u0301",
    "日本語",
    "😀",
    "\uFFFD",
    "a\nb",
    "a\\b",
    "a:b",
    "*",
    "'; DROP TABLE x; --",
    "x".repeat(1024),
    `${"é".repeat(400)}/${"y".repeat(220)}`,
  ],
];

/** The tests that every `StateStore` must pass. `create` returns an empty store. */
export function describeStateStore(name: string, create: () => StateStoreSubject | Promise<StateStoreSubject>): void {
  describe(`${name} keeps the StateStore contract`, () => {
    it("reads what was written, and nothing where nothing was [ST-01, ST-03, TE-06]", async () => {
      await using store = (await create()).store;
      expect(await store.read(GLOBAL, "missing")).toBeUndefined();
      const values: readonly JsonValue[] = [
        "text",
        "",
        0,
        -0.5,
        1e300,
        true,
        false,
        null,
        [],
        {},
        [1, [null]],
        { a: { "": "\u0000\ud83d\ude00" }, __proto__x: 1 },
      ];
      for (const [index, value] of values.entries()) {
        expect(await store.write(GLOBAL, `key-${index}`, value)).toBe(1);
        expect(await store.read(GLOBAL, `key-${index}`)).toEqual({ value, version: 1 });
      }
    });

    it("counts the writes of each key, and begins anew when it was deleted", async () => {
      await using store = (await create()).store;
      for (let version = 1; version <= 3; version++) expect(await store.write(GLOBAL, "k", version)).toBe(version);
      expect(await store.read(GLOBAL, "k")).toEqual({ value: 3, version: 3 });
      await store.delete(GLOBAL, "k");
      await store.delete(GLOBAL, "k");
      expect(await store.read(GLOBAL, "k")).toBeUndefined();
      expect(await store.list(GLOBAL, "")).toEqual([]);
      expect(await store.write(GLOBAL, "k", "again")).toBe(1);
    });

    it("writes over a version only that the caller knows, and says which there is", async () => {
      await using store = (await create()).store;
      expect(await store.write(GLOBAL, "k", "first", { ifVersion: 0 })).toBe(1);
      expect(await store.write(GLOBAL, "k", "second", { ifVersion: 1 })).toBe(2);
      for (const ifVersion of [0, 1, 3]) {
        const error = await failureOf(store.write(GLOBAL, "k", "late", { ifVersion }));
        expect(error.failure).toMatchObject({ kind: "conflict", key: "k", actualVersion: 2 });
      }
      expect((await failureOf(store.write(GLOBAL, "other", 1, { ifVersion: 1 }))).failure).toMatchObject({
        kind: "conflict",
        actualVersion: 0,
      });
      expect(await store.read(GLOBAL, "k")).toEqual({ value: "second", version: 2 });
    });

    it("lets one of many writers win who know the same version [ST-08]", async () => {
      await using store = (await create()).store;
      const writes = Array.from({ length: 20 }, (_, index) => store.write(GLOBAL, "k", index, { ifVersion: 0 }));
      const outcomes = await Promise.allSettled(writes);
      const winners = outcomes.flatMap((outcome, index) => (outcome.status === "fulfilled" ? [index] : []));
      expect(winners).toHaveLength(1);
      expect(await store.read(GLOBAL, "k")).toEqual({ value: winners[0], version: 1 });
      await Promise.all(Array.from({ length: 20 }, (_, index) => store.write(GLOBAL, "count", index)));
      expect((await store.read(GLOBAL, "count"))?.version).toBe(20);
    });

    it("keeps scopes apart, and keys, whatever stands in them [ST-05]", async () => {
      await using store = (await create()).store;
      for (const [index, scope] of SCOPES.entries()) await store.write(scope, "k", index);
      for (const [index, scope] of SCOPES.entries()) {
        expect(await store.read(scope, "k")).toEqual({ value: index, version: 1 });
        expect(await store.list(scope, "")).toEqual(["k"]);
      }
      const scope: Scope = { type: "session", id: "keys" };
      for (const [index, key] of KEYS.entries()) expect(await store.write(scope, key, index)).toBe(1);
      for (const [index, key] of KEYS.entries()) expect(await store.read(scope, key)).toEqual({ value: index, version: 1 });
      expect(await store.list(scope, "")).toEqual(inOrder(KEYS));
      for (const key of KEYS) await store.delete(scope, key);
      expect(await store.list(scope, "")).toEqual([]);
      expect(await store.read(GLOBAL, "k")).toEqual({ value: 0, version: 1 });
    });

    it("lists keys by their beginning, in the order of code points, page by page [AP-01]", async () => {
      await using store = (await create()).store;
      let runs = 0;
      const key = fc
        .array(fc.constantFrom("a", "b", "/", "é", "\uD7FF", "\uE000", "\uFFFF", "😀", "\u{10FFFF}"), { minLength: 1, maxLength: 4 })
        .map((parts) => parts.join(""));
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(key, { maxLength: 12 }),
          fc.oneof(fc.constant(""), key),
          fc.option(key),
          fc.integer({ min: 0, max: 5 }),
          async (keys, prefix, after, limit) => {
            const scope: Scope = { type: "session", id: `run-${++runs}` };
            for (const each of keys) await store.write(scope, each, 1);
            const expected = inOrder(keys.filter((each) => each.startsWith(prefix)));
            expect(await store.list(scope, prefix)).toEqual(expected);
            const behind = after === null ? expected : expected.filter((each) => inOrder([each, after])[0] === after && each !== after);
            expect(await store.list(scope, prefix, { limit, ...(after !== null && { after }) })).toEqual(behind.slice(0, limit));
          },
        ),
        { numRuns: 15 },
      );
    });

    it("forgets what has expired, for readers, lists and versions alike [ST-10]", async () => {
      const { store, advance } = await create();
      await using _store = store;
      await store.write(GLOBAL, "brief", 1, { ttlMs: 1000 });
      await store.write(GLOBAL, "long", 1, { ttlMs: 5000 });
      await store.write(GLOBAL, "kept", 1);
      advance(999);
      expect(await store.list(GLOBAL, "")).toEqual(["brief", "kept", "long"]);
      advance(1);
      expect(await store.list(GLOBAL, "")).toEqual(["kept", "long"]);
      expect(await store.list(GLOBAL, "", { limit: 1 })).toEqual(["kept"]);
      expect(await store.read(GLOBAL, "brief")).toBeUndefined();
      expect(await store.write(GLOBAL, "brief", 2, { ifVersion: 0 })).toBe(1);
      // The next write has an end of its own, or none.
      await store.write(GLOBAL, "long", 2);
      advance(1_000_000);
      expect(await store.list(GLOBAL, "")).toEqual(["brief", "kept", "long"]);
    });

    it("keeps what has a time to live beyond all dates until the last of them [ST-10]", async () => {
      await using store = (await create()).store;
      for (const ttlMs of [Number.MAX_SAFE_INTEGER, 1e300, Number.MAX_VALUE]) {
        const key = `for-${ttlMs}`;
        expect(await store.write(GLOBAL, key, "first", { ttlMs })).toBe(1);
        expect(await store.read(GLOBAL, key)).toEqual({ value: "first", version: 1, expiresAt: 8.64e15 });
        expect(await store.list(GLOBAL, key)).toEqual([key]);
        expect(await store.write(GLOBAL, key, "second", { ttlMs, ifVersion: 1 })).toBe(2);
      }
    });

    it("gives back what the last write said of its value [ST-10]", async () => {
      await using store = (await create()).store;
      const metadata = { untrusted: ["web"], n: { deep: [1] } };
      const said = { metadata, tier: "warm", lifetime: "session", contentKind: "episodic", salience: 0.25 } as const;
      await store.write(GLOBAL, "k", 1, said);
      expect(await store.read(GLOBAL, "k")).toEqual({ value: 1, version: 1, ...said });
      await store.write(GLOBAL, "k", 2);
      expect(await store.read(GLOBAL, "k")).toEqual({ value: 2, version: 2 });
    });

    it("keeps a value as it was when it was written, whatever its giver or reader does with it", async () => {
      await using store = (await create()).store;
      const value = { list: [1] };
      const written = store.write(GLOBAL, "k", value);
      value.list.push(2);
      await written;
      const read = (await store.read(GLOBAL, "k"))?.value as { list: number[] };
      read.list.push(3);
      expect((await store.read(GLOBAL, "k"))?.value).toEqual({ list: [1] });
    });

    it("finds nothing for a query without words, and nothing in an empty scope [ST-07]", async () => {
      await using store = (await create()).store;
      await store.write(GLOBAL, "k", "some text");
      expect(await store.search(GLOBAL, "")).toEqual([]);
      expect(await store.search(GLOBAL, ' "*( - ')).toEqual([]);
      expect(await store.search({ type: "session", id: "empty" }, "text")).toEqual([]);
    });

    it("refuses what it can't keep, and says why; what was there stays [ST-04]", async () => {
      await using store = (await create()).store;
      await store.write(GLOBAL, "k", "kept");
      const wrong = (value: unknown): JsonValue => value as JsonValue;
      const circle: { self?: unknown } = {};
      circle.self = circle;
      for (const value of [undefined, () => 1, circle, 1n])
        expect((await failureOf(store.write(GLOBAL, "k", wrong(value)))).failure.kind).toBe("serialization");
      const refused: readonly (() => Promise<unknown>)[] = [
        () => store.write(GLOBAL, "", 1),
        () => store.write(GLOBAL, "a\0b", 1),
        () => store.write(GLOBAL, "\ud800", 1),
        () => store.write(GLOBAL, "x".repeat(1025), 1),
        () => store.read(GLOBAL, ""),
        () => store.delete(GLOBAL, ""),
        () => store.write(GLOBAL, "k", 1, { ttlMs: 0 }),
        () => store.write(GLOBAL, "k", 1, { ttlMs: Number.NaN }),
        () => store.write(GLOBAL, "k", 1, { ifVersion: -1 }),
        () => store.write(GLOBAL, "k", 1, { ifVersion: 0.5 }),
        () => store.write(GLOBAL, "k", 1, { salience: 2 }),
        () => store.write(GLOBAL, "k", 1, { tier: "icy" as "cold" }),
        () => store.write(GLOBAL, "k", 1, { lifetime: "forever" as "durable" }),
        () => store.write({ type: "session", id: "" }, "k", 1),
        () => store.read({ type: "nothing" } as unknown as Scope, "k"),
        () => store.list(GLOBAL, "", { limit: -1 }),
      ];
      for (const act of refused) expect((await failureOf(act())).failure.kind).toBe("invalid-input");
      expect(await store.read(GLOBAL, "k")).toEqual({ value: "kept", version: 1 });
      expect(await store.list(GLOBAL, "")).toEqual(["k"]);
    });

    it("rejects everything after its disposal", async () => {
      const { store } = await create();
      await store.write(GLOBAL, "k", 1);
      await store[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      for (const act of [
        () => store.read(GLOBAL, "k"),
        () => store.list(GLOBAL, ""),
        () => store.search(GLOBAL, "k"),
        () => store.write(GLOBAL, "k", 1),
        () => store.delete(GLOBAL, "k"),
      ])
        expect((await failureOf(act())).failure.kind).toBe("closed");
    });
  });
}

function inOrder(keys: readonly string[]): readonly string[] {
  return [...keys].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
}

async function failureOf(action: Promise<unknown>): Promise<StateError> {
  const error = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!StateError.is(error)) throw new Error(`A StateError was expected, not ${String(error)}.`);
  return error as StateError;
}
