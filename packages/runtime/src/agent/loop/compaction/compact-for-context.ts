import type { CompactionStrategy } from "../../../context/compaction/strategy.ts";
import { compactConversation } from "../../features/compaction/compact-conversation.ts";
import { MOST_VAIN } from "../../features/compaction/most-vain.ts";
import { carryOutRemembered } from "../../features/effects/carry-out.ts";
import { sessionOf, type Loop } from "../../turn/loop.ts";
import { RunEnding } from "../../turn/run-ending.ts";
import { keepInStore, shorten } from "./compact-by.ts";

/**
 * Shortens the conversation of a run for its context, and returns true if it is shorter now. After some compactions without a gain it does
 * nothing. A run that ends meanwhile, or a spent budget, is left to the loop, which meets it next.
 */
export async function compactForContext(loop: Loop, key: string, strategy: CompactionStrategy): Promise<boolean> {
  if ((sessionOf(loop).vainCompactions ?? 0) >= MOST_VAIN) return false;
  try {
    await carryOutRemembered(loop);
    const result = await compactConversation(loop, {
      key,
      cause: "size",
      strategy: strategy.type,
      shorten: () => shorten({ ...loop, isBeside: true }, key, strategy),
      keep: (compacted) => keepInStore(loop, key, compacted),
    });
    return result === "done";
  } catch (error) {
    if (error instanceof RunEnding) return false;
    throw error;
  }
}
