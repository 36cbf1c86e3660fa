import type { Scope, StateStore } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createStoreStack, withStoreMiddleware } from "../../middleware/store-middleware.ts";
import { describeStateStore } from "../../testing/state-store-contract.ts";
import { createMemoryStore } from "../memory/memory-store.ts";
import { cacheStore, type CacheStoreOptions } from "./cache-store.ts";

const SCOPE: Scope = { type: "global" };
const cachedOver = (store: StateStore, options?: CacheStoreOptions): StateStore =>
  withStoreMiddleware(store, createStoreStack().guard(cacheStore(options)).build());
const counting = (store: StateStore): { readonly store: StateStore; readonly reads: string[] } => {
  const reads: string[] = [];
  return { reads, store: { ...store, read: (scope, key) => (reads.push(key), store.read(scope, key)) } };
};

describe("a store with cacheStore around it", () => {
  it("reads a key once, until it is written or deleted through it", async () => {
    const { store: inner, reads } = counting(createMemoryStore());
    const store = cachedOver(inner);
    expect(await store.read(SCOPE, "k")).toBeUndefined();
    expect(await store.read(SCOPE, "k")).toBeUndefined();
    await store.write(SCOPE, "k", { a: [1] });
    for (let time = 0; time < 3; time++) {
      const found = (await store.read(SCOPE, "k"))?.value as { a: number[] };
      expect(found).toEqual({ a: [1] });
      found.a.push(2);
    }
    await store.delete(SCOPE, "k");
    expect(await store.read(SCOPE, "k")).toBeUndefined();
    expect(reads).toEqual(["k", "k", "k"]);
  });

  it("reads again what others may have written after the age that it is given, and what has expired", async () => {
    let time = 0;
    const memory = createMemoryStore({ now: () => time });
    const store = cachedOver(memory, { maxAgeMs: 100, now: () => time });
    await store.write(SCOPE, "k", 1, { ttlMs: 150 });
    expect(await store.read(SCOPE, "k")).toMatchObject({ value: 1 });
    await memory.write(SCOPE, "k", 2, { ttlMs: 150 });
    time = 99;
    expect(await store.read(SCOPE, "k")).toMatchObject({ value: 1 });
    time = 100;
    expect(await store.read(SCOPE, "k")).toMatchObject({ value: 2 });
    time = 150;
    expect(await store.read(SCOPE, "k")).toBeUndefined();
  });

  it("keeps so many keys, and lets go of those read longest ago", async () => {
    const { store: inner, reads } = counting(createMemoryStore());
    const store = cachedOver(inner, { maxEntries: 2 });
    for (const key of ["a", "b", "a", "c", "a", "b"]) await store.read(SCOPE, key);
    expect(reads).toEqual(["a", "b", "c", "b"]);
  });

  it("keeps nothing of a read that a write overtook, nor of a write that failed", async () => {
    const memory = createMemoryStore();
    await memory.write(SCOPE, "k", "old");
    const hasRead = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const slow: StateStore = {
      ...memory,
      async read(scope, key) {
        const stored = await memory.read(scope, key);
        hasRead.resolve();
        await gate.promise;
        return stored;
      },
    };
    const store = cachedOver(slow);
    const late = store.read(SCOPE, "k");
    await hasRead.promise;
    await store.write(SCOPE, "k", "new");
    gate.resolve();
    expect(await late).toMatchObject({ value: "old" });
    expect(await store.read(SCOPE, "k")).toMatchObject({ value: "new" });
    await expect(store.write(SCOPE, "k", "x", { ifVersion: 9 })).rejects.toThrow();
    await memory.write(SCOPE, "k", "newest");
    await expect(store.write(SCOPE, "k", "x", { ifVersion: 9 })).rejects.toThrow();
    expect(await store.read(SCOPE, "k")).toMatchObject({ value: "newest" });
  });

  it("shows what the store holds, whatever is read, written, deleted and expires", async () => {
    const act = fc.record({
      key: fc.constantFrom("a", "b", "c"),
      act: fc.constantFrom("read", "write", "brief", "delete", "wait"),
      value: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 40 }), async (acts) => {
        let time = 0;
        const memory = createMemoryStore({ now: () => time });
        const store = cachedOver(memory, { maxEntries: 2, now: () => time });
        for (const { key, act: what, value } of acts) {
          if (what === "write") await store.write(SCOPE, key, value);
          else if (what === "brief") await store.write(SCOPE, key, value, { ttlMs: 2 });
          else if (what === "delete") await store.delete(SCOPE, key);
          else if (what === "wait") time++;
          expect(await store.read(SCOPE, key)).toEqual(await memory.read(SCOPE, key));
        }
      }),
    );
  });
});

describeStateStore("a store with cacheStore around it", () => {
  let time = 1_000_000;
  const now = (): number => time;
  return { store: cachedOver(createMemoryStore({ now }), { now }), advance: (ms) => void (time += ms) };
});
