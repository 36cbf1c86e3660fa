import type { CallBatch } from "@keelson/protocol";

/** The tokens that reads of a batch may use. The runtime sets it before each batch of calls. */
export interface ReadBudget {
  /** Tokens that the context window has left. `undefined` if the size of the window is unknown. */
  readonly remaining: number | undefined;
  /** Tokens that one read of the present batch may use: `remaining / (5 × reads in the batch)`, at least 2,000. */
  readonly perRead: number;
}

/** The least that a read may use, also if nearly no room is left: fewer tokens do not show a model where to read on. */
const LEAST_TOKENS = 2_000;
/** The tokens of one read if the window of the model is unknown: a fifth of a window of 100,000 tokens. */
const UNKNOWN_WINDOW_TOKENS = 20_000;

/** Returns the tokens that each read of a batch may use. @param batch `batch` of the tool call; `undefined` outside of a run */
export function readBudgetOf(batch: CallBatch | undefined): ReadBudget {
  const remaining = batch?.contextLeft;
  const reads = Math.max(1, batch?.reads ?? 1);
  const share = remaining === undefined ? UNKNOWN_WINDOW_TOKENS / reads : remaining / (5 * reads);
  return { remaining, perRead: Math.max(LEAST_TOKENS, Math.floor(share)) };
}
