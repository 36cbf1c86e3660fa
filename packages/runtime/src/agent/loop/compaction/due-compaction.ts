import { isDue } from "./is-due.ts";
import { isTooLong } from "./is-too-long.ts";
import { besideKey } from "./preparation.ts";
import { MOST_VAIN } from "../../features/compaction/most-vain.ts";
import { sessionOf, type Loop } from "../../turn/loop.ts";
import type { Step } from "../../turn/moments.ts";

/** Shortens the conversation before the turn's first inference, where somebody asked for that or it passed a threshold. */
export const compactStep: Step = {
  name: "compaction",
  applies(loop, { turn }) {
    const { execution } = loop;
    // A replay that is past the inference is past this.
    if (execution.has(`${turn}/infer/0`) || execution.has(`${besideKey(turn)}/left`)) return false;
    return [`${turn}/compact/due`, besideKey(turn)].some((key) => execution.has(`${key}/begin`)) || causeOf(loop) !== undefined;
  },
  async run(loop, { turn }) {
    const key = `${turn}/compact/due`;
    const cause = loop.execution.lookup(`${key}/begin`, "compaction-begin")?.data.cause ?? causeOf(loop) ?? "size";
    if (!loop.execution.has(`${key}/begin`) && cause === "size" && mayWait(loop)) {
      const { prepareBeside } = await import("./prepare-beside.ts");
      return prepareBeside(loop, besideKey(turn));
    }
    const { compactBy } = await import("./compact-by.ts");
    await compactBy(loop, key, cause);
  },
};

/** Why a compaction is due; nothing where none is. */
function causeOf(loop: Loop): "request" | "size" | undefined {
  const { compactAsked, vainCompactions = 0 } = sessionOf(loop);
  if (compactAsked === true) return "request";
  return vainCompactions < MOST_VAIN && isDue(loop) ? "size" : undefined;
}

/** Whether the summary that is due may be made beside the turn. */
function mayWait(loop: Loop): boolean {
  const { compact, compaction } = loop.agent.options;
  const { beside = false, strategy } = compaction ?? {};
  return beside && compact === undefined && (strategy === undefined || "maxTokens" in strategy) && !isTooLong(loop);
}
