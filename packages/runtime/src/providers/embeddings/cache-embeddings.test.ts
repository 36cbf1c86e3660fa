import type { Embedder } from "@keelson/protocol";
import fc from "fast-check";
import { createMemoryStore } from "keelson/state";
import { expect, it } from "vitest";
import { cacheEmbeddings } from "./cache-embeddings.ts";

const embedderOf = (model = "m"): Embedder & { readonly asked: string[][] } => {
  const asked: string[][] = [];
  return {
    name: "vendor",
    model,
    asked,
    async embed(texts, { dimensions = 2, purpose = "" } = {}) {
      asked.push([...texts]);
      const vectors = texts.map((text) =>
        Array.from({ length: dimensions }, (_, index) => Math.fround(text.length + index / 3) / 7 + purpose.length),
      );
      return { vectors, usage: { inputTokens: texts.length }, model };
    },
  };
};

it("asks for each text once, whoever asks again, and gives the same vectors", async () => {
  const text = fc.constantFrom("a", "bb", "ccc", "dddd");
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(text, { maxLength: 6 }), { maxLength: 6 }), async (requests) => {
      const store = createMemoryStore();
      const bare = embedderOf();
      const counted = embedderOf();
      for (const texts of requests) {
        // Another process, for all that the cache remembers.
        const cached = cacheEmbeddings(counted, { store });
        expect((await cached.embed(texts)).vectors).toEqual((await bare.embed(texts)).vectors);
      }
      const all = counted.asked.flat();
      expect(all.length).toBe(new Set(all).size);
      expect(new Set(all)).toEqual(new Set(requests.flat()));
    }),
    { numRuns: 50 },
  );
});

it("takes no vector for that of another model, length or purpose, and counts what was asked now", async () => {
  const store = createMemoryStore();
  const embedder = embedderOf();
  const cached = cacheEmbeddings(embedder, { store });
  expect((await cached.embed(["a", "b"])).usage).toEqual({ inputTokens: 2 });
  expect((await cached.embed(["a", "b"])).usage).toEqual({ inputTokens: 0 });
  await cached.embed(["a"], { dimensions: 3 });
  await cached.embed(["a"], { purpose: "query" });
  expect(embedder.asked).toEqual([["a", "b"], ["a"], ["a"]]);
  const other = embedderOf("other");
  await cacheEmbeddings(other, { store }).embed(["a"]);
  expect(other.asked).toEqual([["a"]]);
});

it("asks anew for what it can't read, and after its time", async () => {
  let time = 0;
  const store = createMemoryStore({ now: () => time });
  const scope = { type: "global" } as const;
  const embedder = embedderOf();
  const cached = cacheEmbeddings(embedder, { store, scope, ttlMs: 10 });
  await cached.embed(["a"]);
  const [key = ""] = await store.list(scope, "");
  await store.write(scope, key, "AAA");
  await cached.embed(["a"]);
  time = 10;
  await cached.embed(["a"]);
  expect(embedder.asked).toHaveLength(3);
});
