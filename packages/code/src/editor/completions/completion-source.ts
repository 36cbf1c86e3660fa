import type { Suggestion } from "../../slash-commands/slash-command.ts";

/** The suggestions for the text before the cursor. */
export interface Completion {
  /** The end of the text before the cursor that a suggestion replaces. */
  readonly prefix: string;
  /** Best first. */
  readonly suggestions: readonly Suggestion[];
}

/** The place of the cursor. */
export interface CompletionPlace {
  /** The lines above the cursor's line. */
  readonly above: readonly string[];
  /** The cursor's line, up to the cursor. */
  readonly before: string;
}

export interface CompletionOptions {
  /** Fires when another key makes the suggestions out of date. */
  readonly signal: AbortSignal;
  /** True if the person asked with Tab. */
  readonly isAsked: boolean;
}

/** A source of suggestions. It must not block: it is asked at each key. */
export interface CompletionSource {
  /** @returns `undefined` if it has no suggestion for this place */
  complete(place: CompletionPlace, options: CompletionOptions): Promise<Completion | undefined>;
}

/** Returns a source that asks several, in order, for the first completion. */
export function firstCompletion(sources: readonly CompletionSource[]): CompletionSource {
  return {
    async complete(place, options) {
      for (const source of sources) {
        const found = await source.complete(place, options);
        if (found !== undefined || options.signal.aborted) return found;
      }
      return undefined;
    },
  };
}
