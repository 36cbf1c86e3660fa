import { StateError } from "@keelson/protocol";
import type { StateEntry } from "../kit/state-entry.ts";

/** The place of a key among all scopes. */
export interface KeyPlace {
  readonly scope: string;
  readonly key: string;
}

/** The keys of a store in the order of their last use, and the bytes that their values take. */
export interface RecentUses {
  /** Makes a key the most recently used one. */
  touch(scope: string, key: string): void;
  /** Counts a written key, and returns the least recently used keys that no longer fit, which are counted no more. The written key always fits. */
  add(scope: string, key: string, entry: StateEntry): readonly KeyPlace[];
  remove(scope: string, key: string): void;
}

/** Returns `undefined` if there is no limit. */
export function createRecentUses(limits: {
  readonly maxKeys?: number | undefined;
  readonly maxBytes?: number | undefined;
}): RecentUses | undefined {
  const maxKeys = limitOf("maxKeys", limits.maxKeys);
  const maxBytes = limitOf("maxBytes", limits.maxBytes);
  if (maxKeys === Number.POSITIVE_INFINITY && maxBytes === Number.POSITIVE_INFINITY) return undefined;
  // A map keeps the order of insertion: the first key is the least recently used one.
  const uses = new Map<string, KeyPlace & { readonly bytes: number }>();
  let bytes = 0;
  const nameOf = (scope: string, key: string): string => `${scope}\0${key}`;
  const remove = (name: string): void => {
    bytes -= uses.get(name)?.bytes ?? 0;
    uses.delete(name);
  };
  return {
    touch(scope, key) {
      const name = nameOf(scope, key);
      const use = uses.get(name);
      if (use === undefined) return;
      uses.delete(name);
      uses.set(name, use);
    },
    add(scope, key, entry) {
      const name = nameOf(scope, key);
      remove(name);
      const size = Buffer.byteLength(entry.value) + Buffer.byteLength(entry.metadata ?? "");
      uses.set(name, { scope, key, bytes: size });
      bytes += size;
      const evicted: KeyPlace[] = [];
      for (const [other, use] of uses) {
        if ((uses.size <= maxKeys && bytes <= maxBytes) || other === name) break;
        remove(other);
        evicted.push(use);
      }
      return evicted;
    },
    remove: (scope, key) => remove(nameOf(scope, key)),
  };
}

function limitOf(name: string, limit: number | undefined): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  if (Number.isSafeInteger(limit) && limit > 0) return limit;
  throw new StateError({
    kind: "invalid-input",
    message: `${name} is ${limit}: give a whole number above 0, or leave it out for no limit.`,
  });
}
