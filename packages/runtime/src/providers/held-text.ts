import { ModelError } from "@keelson/protocol";
import { DEFAULT_MAX_ANSWER_BYTES } from "./infer-fold.ts";
import type { FailureContext } from "./vendor-failure.ts";

/** What a call that has no name yet takes beside its text. */
export const HELD_ITEM_LENGTH = 256;

/**
 * Counts what a decoder keeps of a response before it can give it: calls without a name, blocks that are gathered whole. Nobody behind
 * the decoder sees it grow, so that it is bounded here.
 */
export class HeldText {
  readonly #context: FailureContext;
  #length = 0;

  constructor(context: FailureContext) {
    this.#context = context;
  }

  /** @throws ModelError of kind `max-output-tokens` once it is more than a response may hold */
  add(length: number): void {
    this.#length += length;
    if (this.#length <= DEFAULT_MAX_ANSWER_BYTES) return;
    const { provider, model } = this.#context;
    const message = `${provider} sent more than ${DEFAULT_MAX_ANSWER_BYTES} bytes of calls and blocks that it never finished`;
    throw new ModelError({ kind: "max-output-tokens", message, provider, model });
  }
}
