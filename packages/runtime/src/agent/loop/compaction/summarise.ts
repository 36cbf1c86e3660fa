import type { SummaryStrategy } from "../../../context/compaction/strategy.ts";
import { summaryRequest } from "../../../context/compaction/summary-request.ts";
import type { Entry } from "../../../context/room/entry.ts";
import { inferText } from "./infer-text.ts";
import { sessionOf, type Loop } from "../../turn/loop.ts";

/**
 * Returns a summary of old messages that the run's model wrote, or a short transcript if the model cannot be asked or returns no text. The
 * summary says where the log keeps the whole.
 * @param tokens the size of the transcript that the model reads. Default: what fits into a conversation that fits
 */
export async function summarise(
  loop: Loop,
  key: string,
  old: readonly Entry[],
  strategy: SummaryStrategy,
  tokens: number = Number.POSITIVE_INFINITY,
): Promise<string> {
  const { id, seq } = sessionOf(loop);
  const where = `(It stands for ${old.length} messages, which the log of session ${id} keeps up to record ${seq}.)`;
  const { short, question } = summaryRequest(old, strategy, tokens);
  if (question === undefined) return `${short}\n\n${where}`;
  return `${(await inferText(loop, `${key}/summary`, question)) ?? short}\n\n${where}`;
}
