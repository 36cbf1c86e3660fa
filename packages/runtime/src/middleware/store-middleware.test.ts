import { StateError, type JsonValue, type Scope, type StateStore } from "@keelson/protocol";
import { mockStateStore } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { createStoreStack, withStoreMiddleware, type StoreMiddleware, type StoreObserver } from "./store-middleware.ts";

const scope: Scope = { type: "session", id: "s1" };

const rot13 = (text: string): string => text.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 84) % 26) + 97));

/** Encrypts what is stored, in the manner of children. */
const encrypting: StoreMiddleware = {
  name: "encrypting",
  write: (within, key, value, options, next) => next(within, key, rot13(String(value)), options),
  async read(within, key, next) {
    const found = await next(within, key);
    return found && { ...found, value: rot13(String(found.value)) };
  },
};

describe("store middleware", () => {
  it("wraps reading and writing, and forwards what it has no method for [BM-01, BM-03]", async () => {
    const inner = mockStateStore({ search: () => [{ key: "k", score: 1 }] });
    const store = withStoreMiddleware(inner, createStoreStack().transform(encrypting).build());
    expect(await store.write(scope, "secret", "attack at dawn", { ttlMs: 5, ifVersion: 0 })).toBe(1);
    expect(inner.writes).toEqual([{ scope, key: "secret", value: "nggnpx ng qnja", options: { ttlMs: 5, ifVersion: 0 } }]);
    expect(await store.read(scope, "secret")).toEqual({ value: "attack at dawn", version: 1, expiresAt: 5 });
    expect(await store.list(scope, "sec")).toEqual(["secret"]);
    expect(await store.search(scope, "q", { limit: 1 })).toEqual([{ key: "k", score: 1 }]);
    await store.delete(scope, "secret");
    expect(await store.read(scope, "secret")).toBeUndefined();
    await expect(store.write(scope, "secret", "again", { ifVersion: 7 })).rejects.toMatchObject({ failure: { kind: "conflict" } });
  });

  it("lets next change any part, and keeps what it is not given; null is a value like any other", async () => {
    const inner = mockStateStore();
    const nulling: StoreMiddleware = {
      name: "nulling",
      write: (_scope, _key, value, _options, next) =>
        value === "nothing" ? next(undefined, undefined, null) : next(undefined, "other key"),
    };
    const store = withStoreMiddleware(inner, createStoreStack().transform(nulling).build());
    await store.write(scope, "a", "nothing", { tier: "hot" });
    await store.write(scope, "b", "something");
    expect(inner.writes).toEqual([
      { scope, key: "a", value: null, options: { tier: "hot" } },
      { scope, key: "other key", value: "something", options: {} },
    ]);
  });

  it("serves reads from a guard that caches, and refuses writes from one that guards [BM-02, BM-07]", async () => {
    let reads = 0;
    const inner: StateStore = mockStateStore({ entries: [[scope, "k", "v"]] });
    const counted: StateStore = { ...inner, read: (...request) => (reads++, inner.read(...request)) };
    const cached = new Map<string, Awaited<ReturnType<StateStore["read"]>>>();
    const caching: StoreMiddleware = {
      name: "caching",
      async read(within, key, next) {
        const place = JSON.stringify([within, key]);
        if (!cached.has(place)) cached.set(place, await next());
        return cached.get(place);
      },
    };
    const frozen: StoreMiddleware = {
      name: "frozen",
      async write(_scope, key, _value, _options, next) {
        if (key.startsWith("config/")) throw new StateError({ kind: "invalid-input", message: `"${key}" is read only` });
        return next();
      },
    };
    const store = withStoreMiddleware(counted, createStoreStack().guard(caching).guard(frozen).build());
    expect([await store.read(scope, "k"), await store.read(scope, "k")]).toEqual([
      { value: "v", version: 1 },
      { value: "v", version: 1 },
    ]);
    expect(reads).toBe(1);
    await expect(store.write(scope, "config/a", 1)).rejects.toMatchObject({ failure: { kind: "invalid-input" } });
    expect(await store.write(scope, "other", 1)).toBe(1);
  });

  it("shows each operation to observers as the caller sees it, methods of their own object included [BM-06]", async () => {
    const lines: JsonValue[] = [];
    class Trail implements StoreObserver {
      readonly name = "trail";
      async read(_scope: Scope, key: string, next: () => Promise<unknown>): Promise<void> {
        lines.push([this.name, "read", key, (await next()) as JsonValue]);
      }
      async write(_scope: Scope, key: string, value: JsonValue, options: unknown, next: () => Promise<number>): Promise<void> {
        lines.push([this.name, "write", key, value, (options ?? null) as JsonValue, await next()]);
      }
      delete(_scope: Scope, key: string): void {
        lines.push([this.name, "delete", key]);
      }
      list(_scope: Scope, prefix: string, page: unknown): void {
        lines.push([this.name, "list", prefix, (page ?? null) as JsonValue]);
      }
      search(_scope: Scope, query: string, options: unknown): void {
        lines.push([this.name, "search", query, (options ?? null) as JsonValue]);
      }
    }
    const store = withStoreMiddleware(mockStateStore(), createStoreStack().transform(encrypting).observe(new Trail()).build());
    await store.write(scope, "k", "plain");
    await store.read(scope, "k");
    await store.list(scope, "k", { limit: 2 });
    await store.search(scope, "q");
    await store.delete(scope, "k");
    expect(lines).toEqual([
      ["trail", "write", "k", "plain", null, 1],
      ["trail", "read", "k", { value: "plain", version: 1 }],
      ["trail", "list", "k", { limit: 2 }],
      ["trail", "search", "q", null],
      ["trail", "delete", "k"],
    ]);
  });

  it("fails as a StateError that names the middleware which threw", async () => {
    const broken: StoreMiddleware = { name: "broken", read: () => Promise.reject(new RangeError("no key")) };
    const store = withStoreMiddleware(mockStateStore(), createStoreStack().guard(broken).build());
    const error = await store.read(scope, "k").catch((thrown: unknown) => thrown);
    expect(StateError.is(error, "other") && error.message).toBe('The middleware "broken" failed: no key');
    const silent: StoreMiddleware = { name: "silent", read: async () => undefined };
    const lost = withStoreMiddleware(mockStateStore(), createStoreStack().transform(silent).build());
    await expect(lost.read(scope, "k")).rejects.toMatchObject({ name: "StateError", failure: { kind: "other" } });
  });

  it("disposes the store with it", async () => {
    let disposed = 0;
    const inner: StateStore = { ...mockStateStore(), [Symbol.asyncDispose]: async () => void disposed++ };
    await withStoreMiddleware(inner, createStoreStack().build())[Symbol.asyncDispose]();
    expect(disposed).toBe(1);
  });
});
