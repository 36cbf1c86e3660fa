import { AgentError, type Scope, type StateReader } from "@keelson/protocol";
import { checkOptionNames } from "../json/option-names.ts";

export interface RecallRequest {
  readonly store: StateReader;
  readonly scope: Scope;
  /** What the keys of the memory begin with; those of others in the scope are none of its items. */
  readonly prefix: string;
  /** What the user said. */
  readonly query: string;
}

/** Chooses what of a memory is worth recalling. */
export interface RecallStrategy {
  /** @returns keys, the most useful first */
  recall(request: RecallRequest): Promise<readonly string[]>;
}

export interface RecallOptions {
  /** Items at most. Default 8. */
  readonly limit?: number | undefined;
}

export interface RecallRelevantOptions extends RecallOptions {
  /** What a match must count. Scores of different stores can't be compared. Default 0. */
  readonly minScore?: number | undefined;
  /** Whether the newest items fill up what few matches leave room for; so they do in a store without search. Default true. */
  readonly orNewest?: boolean | undefined;
}

/** Of a long message, the words behind these say little more of what it is about. */
const MAX_QUERY = 1000;

/** Of all memories in a scope, when there are few of one among those that fit. */
const MOST_FOUND = 1000;

/** What the store's search finds for what the user said: by words, and by meaning where the store can. */
export function recallRelevant(options: RecallRelevantOptions = {}): RecallStrategy {
  checkOptionNames("recallRelevant", options, { limit: true, minScore: true, orNewest: true });
  const { limit = 8, minScore = 0, orNewest = true } = options;
  checkLimit("recallRelevant", limit);
  return {
    async recall({ store, scope, prefix, query }) {
      const text = query.slice(0, MAX_QUERY).toWellFormed();
      const keys = await found({ store, scope, prefix, query: text }, limit, minScore);
      const newest = orNewest && keys.length < limit ? await store.list(scope, prefix, { limit }) : [];
      return [...new Set([...keys, ...newest])].slice(0, limit);
    },
  };
}

/** Other memories may share the scope, and fit better: where they leave too little, more is asked for, once, since an embedder may be paid for each search. */
async function found({ store, scope, prefix, query }: RecallRequest, wanted: number, minScore: number): Promise<readonly string[]> {
  for (let limit = wanted * 4; ; limit = MOST_FOUND) {
    const all = await store.search(scope, query, { limit, minScore });
    const keys = all.map(({ key }) => key).filter((key) => key.startsWith(prefix));
    if (keys.length >= wanted || all.length < limit || limit >= MOST_FOUND) return keys;
  }
}

/** The newest items, whatever was said. */
export function recallNewest(options: RecallOptions = {}): RecallStrategy {
  checkOptionNames("recallNewest", options, { limit: true });
  const { limit = 8 } = options;
  checkLimit("recallNewest", limit);
  return { recall: ({ store, scope, prefix }) => store.list(scope, prefix, { limit }) };
}

function checkLimit(of: string, limit: number): void {
  if (Number.isSafeInteger(limit) && limit > 0) return;
  throw new AgentError({
    kind: "invalid-option",
    option: "limit",
    message: `limit of ${of} must be a whole number from 1; it is ${limit}.`,
  });
}
