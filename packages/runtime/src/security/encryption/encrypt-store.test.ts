import { type JsonObject, type Scope, StateError, type StateStore } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createKeyRing, newKey } from "../../environment/crypto/keys.ts";
import { createStoreStack, withStoreMiddleware } from "../../middleware/store-middleware.ts";
import { createMemoryStore } from "../../state/memory/memory-store.ts";
import { describeStateStore } from "../../testing/state-store-contract.ts";
import { encryptStore, type EncryptStoreOptions, resealStore } from "./encrypt-store.ts";

const SCOPE: Scope = { type: "session", id: "s" };
const first = newKey();
const second = newKey();
const onlyFirst = createKeyRing({ current: first });
const both = createKeyRing({ current: second, previous: [first] });
const onlySecond = createKeyRing({ current: second });
const encrypted = (store: StateStore, options: EncryptStoreOptions = { keys: onlyFirst }): StateStore =>
  withStoreMiddleware(store, createStoreStack().transform(encryptStore(options)).build());
const kindOf = async (action: Promise<unknown>): Promise<string | undefined> => {
  const error = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return StateError.is(error) ? (error as StateError).failure.kind : undefined;
};

describeStateStore("a store with encryptStore around it", () => {
  let time = 1_000_000;
  return { store: encrypted(createMemoryStore({ now: () => time })), advance: (ms) => void (time += ms) };
});

describe("an encrypted store", () => {
  it("gives the store beneath nothing of values and metadata, and all that it goes by", async () => {
    const inner = createMemoryStore();
    const store = encrypted(inner);
    await store.write(SCOPE, "k", { password: "hunter2" }, { metadata: { from: "hunter3" }, tier: "hot", salience: 0.5 });
    const kept = await inner.read(SCOPE, "k");
    expect(JSON.stringify(kept)).not.toMatch(/hunter|password|from/);
    expect(kept).toMatchObject({ version: 1, tier: "hot", salience: 0.5 });
    expect(await store.read(SCOPE, "k")).toEqual({
      value: { password: "hunter2" },
      version: 1,
      tier: "hot",
      salience: 0.5,
      metadata: { from: "hunter3" },
    });
  });

  it("opens no value that was changed, moved, swapped with metadata, put there plain or sealed with another key, and leaves it as it is", async () => {
    const inner = createMemoryStore();
    const store = encrypted(inner);
    await store.write(SCOPE, "k", "mine", { metadata: { a: 1 } });
    const { value, metadata } = (await inner.read(SCOPE, "k")) as { value: JsonObject; metadata: JsonObject };
    const text = value["~sealed"] as string;
    const at = text.length - 5;
    const changed = `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
    await inner.write(SCOPE, "changed", { "~sealed": changed });
    await inner.write(SCOPE, "moved", value);
    await inner.write({ type: "session", id: "other" }, "k", value);
    await inner.write(SCOPE, "swapped", metadata);
    await inner.write(SCOPE, "plain", "text");
    for (const key of ["changed", "moved", "swapped", "plain"])
      expect([key, await kindOf(store.read(SCOPE, key))]).toEqual([key, "corrupt"]);
    expect(await kindOf(store.read({ type: "session", id: "other" }, "k"))).toBe("corrupt");
    await expect(encrypted(inner, { keys: onlySecond }).read(SCOPE, "k")).rejects.toThrow(
      new RegExp(`"k" in session/s.*${first.id}.*left as it is`),
    );
    expect(await store.read(SCOPE, "k")).toMatchObject({ value: "mine", metadata: { a: 1 } });
  });

  it("reads what was plain before where that is allowed, and seals it with the rest when the key changes", async () => {
    let time = 1000;
    const inner = createMemoryStore({ now: () => time });
    await inner.write(SCOPE, "old", "plain", { ttlMs: 500, contentKind: "semantic", metadata: { a: 1 } });
    const moving = encrypted(inner, { keys: onlyFirst, mayBePlain: true });
    await moving.write(SCOPE, "new", "sealed", { salience: 0.75 });
    expect(await moving.read(SCOPE, "old")).toMatchObject({ value: "plain", metadata: { a: 1 } });
    expect(await kindOf(resealStore(inner, SCOPE, { keys: both }))).toBe("corrupt");
    time = 1100;
    expect(await resealStore(inner, SCOPE, { keys: both, mayBePlain: true, now: () => time })).toBe(1);
    expect(await resealStore(inner, SCOPE, { keys: both })).toBe(0);
    const after = encrypted(inner, { keys: onlySecond });
    expect(await after.read(SCOPE, "old")).toEqual({
      value: "plain",
      version: 2,
      contentKind: "semantic",
      metadata: { a: 1 },
      expiresAt: 1500,
    });
    expect(await after.read(SCOPE, "new")).toEqual({ value: "sealed", version: 2, salience: 0.75 });
    time = 1500;
    expect(await after.list(SCOPE, "")).toEqual(["new"]);
  });

  it("leaves alone what somebody writes while it seals anew", async () => {
    const inner = createMemoryStore();
    await encrypted(inner).write(SCOPE, "k", "old");
    const racing: StateStore = {
      ...inner,
      async read(scope, key) {
        const stored = await inner.read(scope, key);
        if (stored?.version === 1) await encrypted(inner, { keys: both }).write(scope, key, "theirs");
        return stored;
      },
    };
    expect(await resealStore(racing, SCOPE, { keys: both })).toBe(0);
    expect((await encrypted(inner, { keys: onlySecond }).read(SCOPE, "k"))?.value).toBe("theirs");
  });

  it("finds nothing, and tells the store no word of a query", async () => {
    const inner = createMemoryStore();
    const asked: string[] = [];
    const store = encrypted({ ...inner, search: async (_scope, query) => (asked.push(query), []) });
    expect(await store.search(SCOPE, "words")).toEqual([]);
    expect(asked).toEqual([""]);
  });
});
