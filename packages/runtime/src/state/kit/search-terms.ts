import { type SearchOptions, type SearchResult, StateError } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";

const DEFAULT_LIMIT = 20;
const OPTIONS = { limit: true, minScore: true, contentKind: true, tier: true, signal: true } as const;

export interface SearchTerms {
  readonly limit: number;
  readonly minScore: number;
  readonly contentKind: string | undefined;
  readonly tier: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** @throws StateError `invalid-input`, and the reason of a signal that was aborted */
export function searchTerms(query: string, options: SearchOptions = {}): SearchTerms {
  checkOptionNames("search", options, OPTIONS);
  const { limit = DEFAULT_LIMIT, minScore = 0, contentKind, tier, signal } = options;
  signal?.throwIfAborted();
  if (typeof query !== "string" || !query.isWellFormed()) throw invalid("The query of a search must be a well-formed string.");
  if (!Number.isSafeInteger(limit) || limit < 0) throw invalid(`The limit of a search must be a whole number from 0; it is ${limit}.`);
  if (!(minScore >= 0)) throw invalid(`The minScore of a search must be a number from 0; it is ${minScore}.`);
  return { limit, minScore, contentKind, tier, signal };
}

/** How many of each kind of match are looked at, so that salience and another kind can lift one over others. */
export function candidatesFor(limit: number): number {
  return Math.max(50, limit * 4);
}

/** What a match counts: its relevance from 0 to 1, up to half more or less by how salient its writer said it is. */
export function scoreOf(relevance: number, salience: number | undefined): number {
  return relevance * (0.5 + (salience ?? 0.5));
}

/** The best of the matches, best first; among equals in the order of keys. */
export function bestMatches(matches: readonly SearchResult[], { limit, minScore }: SearchTerms): readonly SearchResult[] {
  return matches
    .filter(({ score }) => score >= minScore)
    .toSorted((left, right) => right.score - left.score || (left.key < right.key ? -1 : 1))
    .slice(0, limit);
}

function invalid(message: string): StateError {
  return new StateError({ kind: "invalid-input", message });
}
