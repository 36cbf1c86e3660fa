import type { Scope, StateStore } from "@keelson/protocol";
import { createSqliteStore } from "keelson/state";
import { describe, expect, it } from "vitest";
import { recallRelevant } from "./recall-strategy.ts";

const ADA: Scope = { type: "custom", namespace: "user", id: "ada" };
const QUERY = "Which cakes with hazelnuts?";

/** A store of one fact that fits, and of so many episodes of the same scope that fit better. */
async function crowded(episodes: number): Promise<StateStore & { readonly limits: number[] }> {
  const store = createSqliteStore(":memory:");
  await store.write(ADA, "memory/fact/oldest", "Ada has a severe allergy to hazelnuts, and bakes for a living.");
  for (let n = 0; n < 10; n++) await store.write(ADA, `memory/fact/new-${n}`, `Ada lives at number ${n} of some street.`);
  for (let n = 0; n < episodes; n++) await store.write(ADA, `memory/episode/${n}`, "Which cakes with hazelnuts? Cakes with hazelnuts.");
  const limits: number[] = [];
  const search: StateStore["search"] = (scope, query, options) => {
    limits.push(options?.limit ?? 0);
    return store.search(scope, query, options);
  };
  return { ...store, search, limits };
}

describe("what fits of a memory that shares its scope with others", () => {
  it("is found however much of the others fits better", async () => {
    await using store = await crowded(60);
    const keys = await recallRelevant().recall({ store, scope: ADA, prefix: "memory/fact/", query: QUERY });
    expect(keys[0]).toBe("memory/fact/oldest");
    expect(keys).toHaveLength(8);
  });

  it("is asked for once where there is not more to find, or enough was found, and a bounded number of times where there is", async () => {
    await using few = await crowded(3);
    await recallRelevant().recall({ store: few, scope: ADA, prefix: "memory/fact/", query: QUERY });
    expect(few.limits).toHaveLength(1);
    await using enough = await crowded(60);
    await recallRelevant({ limit: 4 }).recall({ store: enough, scope: ADA, prefix: "memory/episode/", query: QUERY });
    expect(enough.limits).toHaveLength(1);
    await using many = await crowded(1_200);
    await recallRelevant().recall({ store: many, scope: ADA, prefix: "memory/fact/", query: QUERY });
    expect(many.limits).toEqual([32, 1_000]);
  });
});
