import fc from "fast-check";
import { expect, it } from "vitest";
import { describeStateStore } from "../../testing/state-store-contract.ts";
import { createMemoryStore } from "./memory-store.ts";

describeStateStore("createMemoryStore", () => {
  let time = 1_000_000;
  return { store: createMemoryStore({ now: () => time }), advance: (ms) => void (time += ms) };
});

describeStateStore("createMemoryStore with limits that are not reached", () => {
  let time = 1_000_000;
  const store = createMemoryStore({ now: () => time, maxKeys: 1_000_000, maxBytes: 1_000_000_000 });
  return { store, advance: (ms) => void (time += ms) };
});

it("evicts the least recently used key over maxKeys, whichever scope it is in [AP-01, LA-12]", async () => {
  await using store = createMemoryStore({ maxKeys: 2 });
  const [a, b] = [
    { type: "session", id: "a" },
    { type: "session", id: "b" },
  ] as const;
  await store.write(a, "k", 1);
  await store.write(b, "k", 2);
  await store.read(a, "k");
  await store.write(b, "l", 3);
  expect([await store.read(a, "k"), await store.read(b, "k"), await store.read(b, "l")].map((found) => found?.value)).toEqual([
    1,
    undefined,
    3,
  ]);
  expect(await store.write(b, "k", 4, { ifVersion: 0 })).toBe(1);
  expect(await store.list(a, "")).toEqual([]);
});

it("never holds more keys or bytes than its limits, but always the last write", async () => {
  const command = fc.record({
    key: fc.constantFrom("a", "b", "c", "d", "e"),
    size: fc.nat(30),
    act: fc.constantFrom("read", "write", "delete"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 40 }), fc.integer({ min: 1, max: 4 }), async (commands, maxKeys) => {
      await using store = createMemoryStore({ maxKeys, maxBytes: 60 });
      const scope = { type: "global" } as const;
      // The keys in the order of their last use, with what their values take.
      let model: { key: string; bytes: number }[] = [];
      for (const { key, size, act } of commands) {
        const held = model.find((entry) => entry.key === key);
        if (act === "read") expect((await store.read(scope, key)) === undefined).toBe(held === undefined);
        else if (act === "delete") await store.delete(scope, key);
        else await store.write(scope, key, "x".repeat(size));
        model = model.filter((entry) => entry.key !== key);
        if (act === "read" && held !== undefined) model.push(held);
        if (act === "write") model.push({ key, bytes: size + 2 });
        while (model.length > 1 && (model.length > maxKeys || model.reduce((sum, { bytes }) => sum + bytes, 0) > 60)) model.shift();
        expect(await store.list(scope, "")).toEqual(model.map((entry) => entry.key).sort());
      }
    }),
  );
});

it.each([0, -1, 1.5, Number.NaN])("refuses a limit of %s", (maxKeys) => {
  expect(() => createMemoryStore({ maxKeys })).toThrow(/maxKeys is .*: give a whole number above 0/);
});

it("refuses values over its limit, and names both", async () => {
  await using store = createMemoryStore({ maxValueBytes: 10 });
  await expect(store.write({ type: "global" }, "k", "ééééé")).rejects.toThrow(/value of 12 bytes, over the limit of 10/);
  expect(await store.write({ type: "global" }, "k", "éééé")).toBe(1);
});
