import { type Embedder, type JsonValue, ModelError, StateError } from "@keelson/protocol";
import { fuseRanks } from "./rank-fusion.ts";
import { searchableText } from "./searchable-text.ts";

/** Of one text. Embedding models read some 8,000 tokens, and refuse what is longer; a token is seldom shorter than a character. */
const MAX_EMBEDDED = 8_000;

type Vector = readonly number[];

export interface MeaningSearch<Id> {
  readonly embedder: Embedder;
  readonly query: string;
  readonly signal: AbortSignal | undefined;
  /**
   * Has vectors made of all that has none of this model yet, and keeps them: an empty one too, of what the embedder refuses, so that it is
   * not asked for that again. What is `undefined` is to be asked for by a later search.
   */
  embedMissing(embed: (texts: readonly string[]) => Promise<readonly (Vector | undefined)[]>): Promise<void>;
  /** Nearest first. */
  nearest(query: Vector): Promise<readonly Id[]>;
}

/** What of a value is embedded. */
export function embeddedText(key: string, value: JsonValue): string {
  return beginningOf(`${key}\n${searchableText(value)}`);
}

/**
 * Puts what is found by meaning beside what was found by words, each with its relevance. Where the embedder fails, what was found by words is
 * all there is.
 * @throws StateError `unavailable` where the embedder fails and words found nothing, and what the embedder throws when `signal` was aborted
 */
export async function addMeaning<Id>(byWords: ReadonlyMap<Id, number>, search: MeaningSearch<Id>): Promise<ReadonlyMap<Id, number>> {
  const { embedder, signal } = search;
  const query = beginningOf(search.query);
  let failure: { readonly cause: unknown } | undefined;

  /** @returns nothing where the embedder rejects */
  async function ask(texts: readonly string[], purpose: "query" | "document"): Promise<readonly Vector[] | undefined> {
    try {
      return (await embedder.embed(texts, { purpose, signal })).vectors;
    } catch (cause) {
      if (signal?.aborted === true) throw cause;
      failure = { cause };
      return undefined;
    }
  }

  async function embed(texts: readonly string[]): Promise<readonly (Vector | undefined)[]> {
    if (failure !== undefined) return texts.map(() => undefined);
    const vectors = await ask(texts, "document");
    if (vectors !== undefined) return texts.map((_, index) => vectors[index] ?? []);
    if (isOfEmbedder(failure)) return texts.map(() => undefined);
    if (texts.length > 1) {
      failure = undefined;
      const middle = texts.length >> 1;
      return [...(await embed(texts.slice(0, middle))), ...(await embed(texts.slice(middle)))];
    }
    // An embedder that takes the query as before refuses the text; one that doesn't is out of order.
    if ((await ask([query], "query")) === undefined) return [undefined];
    failure = undefined;
    return [[]];
  }

  const sought = (await ask([query], "query"))?.[0];
  let byMeaning: readonly Id[] = [];
  if (sought !== undefined) {
    await search.embedMissing(embed);
    byMeaning = await search.nearest(sought);
  }
  if (failure !== undefined && byWords.size === 0 && byMeaning.length === 0) throw unavailable(embedder, failure);
  return sought === undefined ? byWords : fuseRanks([[...byWords.keys()], byMeaning]);
}

/** Whether another text would fare no better now. */
function isOfEmbedder(failure: { readonly cause: unknown } | undefined): boolean {
  const cause = failure?.cause;
  return ModelError.is(cause) && (cause.retryable || ["authentication", "billing", "cancelled"].includes(cause.failure.kind));
}

function beginningOf(text: string): string {
  return text.slice(0, MAX_EMBEDDED).toWellFormed();
}

function unavailable({ name, model }: Embedder, { cause }: { readonly cause: unknown }): StateError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new StateError(
    {
      kind: "unavailable",
      message: `Nothing has a word of the query, and what means the same could not be looked for: the embedder ${name}/${model} failed: ${reason}. Try again; if it goes on, check the embedder, or search for words that were written.`,
    },
    { cause },
  );
}
