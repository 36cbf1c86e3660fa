import type { JsonObject, JsonValue } from "./json.ts";

export type Scope =
  | { readonly type: "operator"; readonly id: string }
  | { readonly type: "session"; readonly id: string }
  | { readonly type: "workflow"; readonly id: string }
  | { readonly type: "global" }
  | { readonly type: "custom"; readonly namespace: string; readonly id: string };

export interface StoredValue {
  readonly value: JsonValue;
  /** Counts the writes of this key, from 1. */
  readonly version: number;
  /** What it was written with. A store that keeps none loses the label of untrusted text (`untrusted` in it). */
  readonly metadata?: JsonObject;
  /** What else it was written with. */
  readonly tier?: string;
  readonly lifetime?: string;
  readonly contentKind?: string;
  readonly salience?: number;
  /** Unix ms from which on it is gone. */
  readonly expiresAt?: number;
}
export interface SearchResult {
  readonly key: string;
  readonly score: number;
  readonly snippet?: string;
  /** What the value was written with. */
  readonly metadata?: JsonObject;
}
export interface SearchOptions {
  readonly limit?: number | undefined;
  readonly minScore?: number | undefined;
  readonly contentKind?: string | undefined;
  readonly tier?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}
export type StoreOptions = {
  /** Write only when this is the current version (0: the key is missing); else `StateError` of kind `conflict`. */
  readonly ifVersion?: number | undefined;
  readonly ttlMs?: number | undefined;
  readonly tier?: "hot" | "warm" | "cold" | undefined;
  readonly lifetime?: "transient" | "session" | "durable" | undefined;
  readonly contentKind?: "episodic" | "semantic" | "procedural" | "structural" | (string & {}) | undefined;
  readonly salience?: number | undefined;
  readonly metadata?: JsonObject | undefined;
};
export interface Page {
  readonly after?: string;
  readonly limit?: number;
}

/** What operators get: they read, and declare writes as effects. A missing key is `undefined`, not an error. */
export interface StateReader {
  read(scope: Scope, key: string): Promise<StoredValue | undefined>;
  /** Keys in ascending order. */
  list(scope: Scope, prefix: string, page?: Page): Promise<readonly string[]>;
  /** Best match first; empty in a backend without search. */
  search(scope: Scope, query: string, options?: SearchOptions): Promise<readonly SearchResult[]>;
}

/** Keeps what is known. A resolved `write` is visible to every later `read`; scopes are isolated; failures reject with `StateError`. */
export interface StateStore extends StateReader, AsyncDisposable {
  write(scope: Scope, key: string, value: JsonValue, options?: StoreOptions): Promise<number>;
  delete(scope: Scope, key: string): Promise<void>;
}
