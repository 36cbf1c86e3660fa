import { expect, it } from "vitest";
import { describeStateStore } from "../../testing/state-store-contract.ts";
import { createMemoryStore } from "./memory-store.ts";

describeStateStore("createMemoryStore", () => {
  let time = 1_000_000;
  return { store: createMemoryStore({ now: () => time }), advance: (ms) => void (time += ms) };
});

it("refuses values over its limit, and names both", async () => {
  await using store = createMemoryStore({ maxValueBytes: 10 });
  await expect(store.write({ type: "global" }, "k", "ééééé")).rejects.toThrow(/value of 12 bytes, over the limit of 10/);
  expect(await store.write({ type: "global" }, "k", "éééé")).toBe(1);
});
