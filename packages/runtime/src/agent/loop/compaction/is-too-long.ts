import { toolTokenBound } from "../../../providers/token-bound.ts";
import { offeredTools } from "../../features/output/output-request.ts";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import { contextTokens, systemOf } from "../context-tokens.ts";

/** Nearer to its window a request is not sent: some servers cut it silently, and estimates are off by some percent. */
const FULL = 0.95;

/** Whether the next request surely fills the window of its model, as far as that is known. */
export function isTooLong(loop: Loop): boolean {
  const { contextWindow } = loop.models.resolve(runOf(loop).model).facts;
  if (contextWindow === undefined) return false;
  // This bound costs nothing, and decides nearly every request.
  const bound = sessionOf(loop).conversation.tokenBound + toolTokenBound(offeredTools(loop)) + Buffer.byteLength(systemOf(loop) ?? "");
  return bound > FULL * contextWindow && contextTokens(loop) > FULL * contextWindow;
}
