import { type Scope, StateError, type StateReader } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { linkOfKey, linksOf } from "./state-link.ts";

export interface TraverseOptions {
  /** Only along these. Default: along all. */
  readonly relations?: readonly string[] | undefined;
  /** How many links away. Default 1. */
  readonly maxDepth?: number | undefined;
  /** How many keys at most. Default 1,000. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A key that was reached, and the link by which it was reached first. */
export interface ReachedKey {
  readonly key: string;
  readonly from: string;
  readonly relation: string;
  /** How many links away it is from the first key. */
  readonly depth: number;
}

const OPTIONS = { relations: true, maxDepth: true, limit: true, signal: true } as const;

/**
 * Walks along the links that `link-memory` effects made, away from a key: nearest first, each key once, whatever circles there are. The first
 * key is not among them. A link may lead to a key that has no value.
 * @throws StateError `invalid-input`, and what the store throws
 */
export async function traverseLinks(
  reader: StateReader,
  scope: Scope,
  key: string,
  options: TraverseOptions = {},
): Promise<readonly ReachedKey[]> {
  checkOptionNames("traverseLinks", options, OPTIONS);
  const { relations, maxDepth = 1, limit = 1000, signal } = options;
  for (const [name, value] of Object.entries({ maxDepth, limit }))
    if (!Number.isSafeInteger(value) || value < 0)
      throw new StateError({
        kind: "invalid-input",
        message: `The ${name} of a walk along links must be a whole number from 0; it is ${value}.`,
      });
  const reached = new Map<string, ReachedKey>();
  let border: readonly string[] = [key];
  for (let depth = 1; depth <= maxDepth && border.length > 0; depth++) {
    const next: string[] = [];
    for (const from of border) {
      for (const prefix of relations === undefined ? [linksOf(from)] : relations.map((relation) => linksOf(from, relation))) {
        signal?.throwIfAborted();
        for (const linkKey of await reader.list(scope, prefix)) {
          const link = linkOfKey(linkKey);
          if (link === undefined || link.to === key || reached.has(link.to)) continue;
          if (reached.size === limit) return [...reached.values()];
          reached.set(link.to, { key: link.to, from, relation: link.relation, depth });
          next.push(link.to);
        }
      }
    }
    border = next;
  }
  return [...reached.values()];
}
