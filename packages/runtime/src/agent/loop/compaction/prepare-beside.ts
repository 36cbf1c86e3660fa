import { applyStrategy, tokensOf } from "../../../context/compaction/apply-strategy.ts";
import type { SummaryStrategy } from "../../../context/compaction/strategy.ts";
import { foldIntoSummary, type Foldable } from "../../../context/room/fold-into-summary.ts";
import { compactConversation, entriesOf, type Compacted } from "../../features/compaction/compact-conversation.ts";
import { carryOutRemembered } from "../../features/effects/carry-out.ts";
import { mayCompact } from "../../features/hooks/compaction-hooks.ts";
import { hooksOf } from "../../features/hooks/loop-hooks.ts";
import { AttemptSignal } from "../../turn/attempt-signal.ts";
import { sessionOf, type Loop } from "../../turn/loop.ts";
import { afterDue, keepInStore, standardStrategy, dueAgain } from "./compact-by.ts";
import { PREPARATION } from "./preparation.ts";
import { summarise } from "./summarise.ts";

/** Begins a summary beside the turn. What stands in the conversation now is what it is of. */
export async function prepareBeside(loop: Loop, key: string): Promise<void> {
  const { execution, parts: kept } = loop;
  const strategy = standardStrategy(loop) as SummaryStrategy;
  const named = { cause: "size", strategy: strategy.type } as const;
  if (hooksOf(loop) !== undefined && !(await mayCompact(loop, key))) {
    execution.put(`${key}/left`, "compaction-left", { ...named, why: "hook" });
    return;
  }
  const entries = entriesOf(loop);
  const parts = partsOf(loop, strategy, entries.length);
  execution.put(`${key}/begin`, "compaction-begin", { ...named, messages: entries.length, tokens: tokensOf(entries) });
  // A later life finds what was begun, and does the rest at the end of the turn.
  if (parts === undefined || execution.has(`${key}/summary`)) return;
  const ending = new AbortController();
  const end = (): void => ending.abort("ended");
  execution.signal.addEventListener("abort", end, { once: true });
  if (execution.signal.aborted) end();
  const attempts = new AttemptSignal(ending.signal);
  const summary = summariseBeside({ ...loop, attempts, isBeside: true }, key, parts, strategy).finally(() =>
    execution.signal.removeEventListener("abort", end),
  );
  kept.set(PREPARATION, { parts, summary, end });
}

async function summariseBeside(loop: Loop, key: string, { old }: Foldable, strategy: SummaryStrategy): Promise<string | undefined> {
  try {
    const text = await summarise(loop, key, old, strategy);
    loop.execution.put(`${key}/text`, "compaction-summary", { text });
    return text;
  } catch (error) {
    // The end of the run, or a budget that is spent: whoever goes on without a summary meets that where it is to be met.
    loop.debug?.(`no summary beside the turn: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** Puts the summary in the place of what it is of; what came since stays behind it. */
export async function cutIn(loop: Loop, key: string): Promise<void> {
  const { execution, parts: kept } = loop;
  const begun = execution.lookup(`${key}/begin`, "compaction-begin");
  if (begun === undefined) return;
  await carryOutRemembered(loop);
  const strategy = standardStrategy(loop) as SummaryStrategy;
  const { messages } = begun.data;
  const shorten = async (): Promise<Compacted | undefined> => {
    await kept.get(PREPARATION)?.summary;
    if (wasReplaced(loop, begun.seq)) return undefined;
    const parts = partsOf(loop, strategy, messages);
    if (parts === undefined) return undefined;
    const summary = execution.lookup(`${key}/text`, "compaction-summary")?.data.text ?? (await summarise(loop, key, parts.old, strategy));
    return { entries: [...foldIntoSummary(parts, summary), ...entriesOf(loop).slice(messages)], summary };
  };
  await compactConversation(loop, {
    key,
    cause: "size",
    strategy: strategy.type,
    shorten,
    keep: (compacted) => keepInStore(loop, key, compacted),
    ...dueAgain(loop),
  });
  afterDue(loop);
}

/** What the first so many messages are made of: the same before the turn and after it. */
function partsOf(loop: Loop, strategy: SummaryStrategy, messages: number): Foldable | undefined {
  const { request } = sessionOf(loop);
  const shortening = applyStrategy(
    strategy,
    entriesOf(loop).slice(0, messages),
    request !== undefined && request < messages ? request : undefined,
  );
  return shortening?.type === "ask" ? shortening.parts : undefined;
}

/** Room had to be made meanwhile. */
function wasReplaced(loop: Loop, since: number): boolean {
  const { compaction } = sessionOf(loop);
  return compaction !== "" && Number(compaction.slice(compaction.lastIndexOf("/") + 1)) > since;
}
