import type { Embedder, EmbedOptions, Scope, StateStore } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { digestOf } from "../../json/digest.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { EMBEDDER_METHODS } from "../../json/interface-methods.ts";

export interface EmbeddingCacheOptions {
  /** Where vectors are kept, each under a digest of its text and of how it was asked for. */
  readonly store: StateStore;
  /** Default: one of their own, that nothing else is in. */
  readonly scope?: Scope | undefined;
  /** Default: for ever; a text has one vector by a model. */
  readonly ttlMs?: number | undefined;
}

const SCOPE: Scope = { type: "custom", namespace: "keelson", id: "embeddings" };

/**
 * Vectors of texts that were embedded before come from a store: the embedder is asked for the others alone, and for each text once. `usage` counts what
 * was asked now. Different models, lengths and purposes have vectors of their own.
 */
export function cacheEmbeddings(embedder: Embedder, options: EmbeddingCacheOptions): Embedder {
  checkOptionNames("cacheEmbeddings", options, { store: true, scope: true, ttlMs: true });
  const { store, scope = SCOPE, ttlMs } = options;
  const wrapped: Embedder = {
    name: embedder.name,
    model: embedder.model,
    async embed(texts, embedOptions = {}) {
      const keys = texts.map((text) => keyOf(embedder, text, embedOptions));
      const vectors = new Map<string, readonly number[]>();
      const missing = new Map<string, string>();
      for (const [index, key] of keys.entries()) {
        if (vectors.has(key) || missing.has(key)) continue;
        const kept = vectorIn((await store.read(scope, key))?.value);
        if (kept === undefined) missing.set(key, texts[index] as string);
        else vectors.set(key, kept);
      }
      if (missing.size === 0)
        return { vectors: keys.map((key) => vectors.get(key) ?? []), usage: { inputTokens: 0 }, model: embedder.model };
      const asked = await embedder.embed([...missing.values()], embedOptions);
      for (const [index, key] of [...missing.keys()].entries()) {
        const vector = asked.vectors[index] as readonly number[];
        vectors.set(key, vector);
        await store.write(scope, key, textOf(vector), ttlMs === undefined ? {} : { ttlMs });
      }
      return { ...asked, vectors: keys.map((key) => vectors.get(key) ?? []) };
    },
  };
  return checkMethodOptions("embedder", wrapped, EMBEDDER_METHODS);
}

function keyOf({ name, model }: Embedder, text: string, { dimensions, purpose }: EmbedOptions): string {
  return digestOf([name, model, dimensions ?? null, purpose ?? null, text]);
}

/** As 64-bit floats, little endian: what is read is what was written. */
function textOf(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 8);
  for (const [index, part] of vector.entries()) bytes.writeDoubleLE(part, index * 8);
  return bytes.toString("base64");
}

/** @returns nothing for what this did not write: it is asked for anew */
function vectorIn(value: unknown): readonly number[] | undefined {
  if (typeof value !== "string") return undefined;
  const bytes = Buffer.from(value, "base64");
  if (bytes.length === 0 || bytes.length % 8 !== 0) return undefined;
  return Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readDoubleLE(index * 8));
}
