import { type EmbedOptions, type EmbedResult, ModelError } from "@keelson/protocol";

export interface BatchLimits {
  /** Texts in one request, at most. */
  readonly maxTexts: number;
  /** Tokens in one request, at most; a longer text makes a request of its own. */
  readonly maxTokens: number;
  /** Requests at a time. */
  readonly concurrency: number;
}

/** The vectors of some of the texts, in their order. */
export interface BatchResult {
  readonly vectors: readonly (readonly number[])[];
  readonly inputTokens: number | null;
  readonly model: string | undefined;
}

export interface EmbedContext {
  readonly provider: string;
  readonly model: string;
}

/** Where the texts of one request begin and end. A token is a byte at least, so that no request has more than its tokens. */
export function batchesOf(
  texts: readonly string[],
  { maxTexts, maxTokens }: BatchLimits,
): readonly (readonly [start: number, end: number])[] {
  const batches: [number, number][] = [];
  let start = 0;
  let bytes = 0;
  for (const [at, text] of texts.entries()) {
    const size = Buffer.byteLength(text);
    if (at > start && (at - start >= maxTexts || bytes + size > maxTokens)) {
      batches.push([start, at]);
      start = at;
      bytes = 0;
    }
    bytes += size;
  }
  if (texts.length > start) batches.push([start, texts.length]);
  return batches;
}

/** Embeds any number of texts in requests of limited size, a few at a time. The first that fails ends the others. */
export async function embedInBatches(
  texts: readonly string[],
  options: EmbedOptions,
  limits: BatchLimits,
  context: EmbedContext,
  request: (texts: readonly string[], signal: AbortSignal) => Promise<BatchResult>,
): Promise<EmbedResult> {
  checkArguments(texts, options, context);
  const batches = batchesOf(texts, limits);
  const results: BatchResult[] = [];
  const failing = new AbortController();
  const signal = options.signal === undefined ? failing.signal : AbortSignal.any([options.signal, failing.signal]);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < batches.length && !failing.signal.aborted; at = next++) {
      const [start, end] = batches[at] as readonly [number, number];
      const result = await request(
        texts.slice(start, end).map((text) => text.toWellFormed()),
        signal,
      );
      checkVectors(result.vectors, end - start, options, context);
      results[at] = result;
    }
  };
  const failures: unknown[] = [];
  const workers = Array.from({ length: Math.min(limits.concurrency, batches.length) }, () =>
    work().catch((error: unknown) => {
      failures.push(error);
      failing.abort();
    }),
  );
  await Promise.all(workers);
  // Those that followed were only told to stop.
  if (failures.length > 0) throw failures[0];
  const vectors = results.flatMap((result) => result.vectors);
  checkLengths(vectors, context);
  const counts = results.map((result) => result.inputTokens);
  return {
    vectors,
    usage: { inputTokens: counts.includes(null) ? null : counts.reduce((sum: number, count) => sum + (count ?? 0), 0) },
    model: results[0]?.model ?? context.model,
  };
}

function checkArguments(texts: readonly string[], { dimensions, signal }: EmbedOptions, context: EmbedContext): void {
  if (signal?.aborted === true) throw new ModelError({ kind: "cancelled", message: "the embedding was cancelled", ...context });
  // No vendor embeds nothing: some refuse it, some respond with zeros.
  const empty = texts.findIndex((text) => text.trim() === "");
  if (empty >= 0)
    throw new ModelError({ kind: "invalid-request", message: `texts[${empty}] is empty: leave it out (${context.provider})`, ...context });
  if (dimensions !== undefined && !(Number.isInteger(dimensions) && dimensions > 0))
    throw new ModelError({ kind: "invalid-request", message: `dimensions must be a positive whole number, not ${dimensions}`, ...context });
}

function checkVectors(
  vectors: readonly (readonly number[])[],
  expected: number,
  { dimensions }: EmbedOptions,
  context: EmbedContext,
): void {
  const wrong = (what: string): ModelError =>
    new ModelError({ kind: "invalid-response", message: `${context.provider} responded with ${what}`, ...context });
  if (vectors.length !== expected) throw wrong(`${vectors.length} vectors for ${expected} texts`);
  for (const vector of vectors) {
    if (vector.length === 0 || !vector.every(Number.isFinite)) throw wrong("a vector that is empty, or holds what is no number");
    if (dimensions !== undefined && vector.length !== dimensions)
      throw wrong(`vectors of ${vector.length} dimensions where ${dimensions} were asked for: the model may have one length only`);
  }
}

function checkLengths(vectors: readonly (readonly number[])[], context: EmbedContext): void {
  const length = vectors[0]?.length;
  if (vectors.some((vector) => vector.length !== length))
    throw new ModelError({
      kind: "invalid-response",
      message: `${context.provider} responded with vectors of different lengths`,
      ...context,
    });
}
