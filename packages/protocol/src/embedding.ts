export interface EmbedOptions {
  readonly signal?: AbortSignal | undefined;
  /** The length of the vectors, where the model can be asked for a shorter one. Default: the model's own. */
  readonly dimensions?: number | undefined;
  /** What the vectors are for, where the vendor makes different ones. */
  readonly purpose?: "query" | "document" | undefined;
}

export interface EmbedResult {
  /** One for each text, in the order of the texts; all of the same length. */
  readonly vectors: readonly (readonly number[])[];
  /** Of all requests that this took; `null` when the vendor does not count. */
  readonly usage: { readonly inputTokens: number | null };
  readonly model: string;
}

/**
 * Makes vectors of texts. Any number of texts may be given: they are sent in as many requests as the vendor needs. Either all
 * texts get their vectors or the call rejects with `ModelError`. Never retries.
 */
export interface Embedder {
  readonly name: string;
  readonly model: string;
  embed(texts: readonly string[], options?: EmbedOptions): Promise<EmbedResult>;
}
