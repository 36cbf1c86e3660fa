import type { CompactionCause } from "@keelson/protocol";
import { applyStrategy } from "../../../context/compaction/apply-strategy.ts";
import { summarise as summariseStrategy, type CompactionStrategy } from "../../../context/compaction/strategy.ts";
import { keepInSummary } from "../../../context/compaction/summary-request.ts";
import type { Entry } from "../../../context/room/entry.ts";
import { foldIntoSummary } from "../../../context/room/fold-into-summary.ts";
import { transcriptOf } from "../../../context/room/transcript.ts";
import { thresholdsOf } from "../../definition/compaction/compaction-options.ts";
import {
  compactByAgent,
  compactConversation,
  entriesOf,
  type Compacted,
  type Compaction,
  type CompactionResult,
} from "../../features/compaction/compact-conversation.ts";
import { MOST_VAIN } from "../../features/compaction/most-vain.ts";
import { carryOutRemembered } from "../../features/effects/carry-out.ts";
import { declareEffects } from "../../features/effects/declare-effects.ts";
import { sessionOf, type Loop } from "../../turn/loop.ts";
import { memoryMetadata } from "../../../session/remembered-items.ts";
import { isDue } from "./is-due.ts";
import { summarise } from "./summarise.ts";

/** What is written of a compaction that leaves messages out without a summary. */
const LEFT_OUT_BYTES = 6 * 1024;

/** Shortens the conversation as the agent says, and warns where that is of little use. */
export async function compactBy(loop: Loop, key: string, cause: CompactionCause): Promise<CompactionResult> {
  await carryOutRemembered(loop);
  const result = await compactAsSaid(loop, { key, cause });
  if (cause === "size") afterDue(loop);
  return result;
}

/** Warns where a compaction that was due is of little use. */
export function afterDue(loop: Loop): void {
  const { vainCompactions = 0 } = sessionOf(loop);
  if (vainCompactions >= MOST_VAIN)
    warn(
      loop,
      `The last ${MOST_VAIN} compactions gained nothing, so that none is begun for a threshold any more until one does: raise the thresholds, or choose another strategy.`,
    );
  else if (isDue(loop))
    warn(loop, "The conversation is still over a threshold after it was compacted: it is compacted again with the next turn.");
}

function warn({ execution }: Loop, status: string): void {
  execution.emit({ type: "status", level: "warn", status });
}

/** By the agent's own function or its strategy. */
export function compactAsSaid(loop: Loop, { key, cause }: Pick<Compaction, "key" | "cause">): Promise<CompactionResult> {
  const common = { key, cause, keep: (compacted: Compacted) => keepInStore(loop, key, compacted), ...dueAgain(loop) };
  if (loop.agent.options.compact !== undefined) return compactByAgent(loop, common);
  const strategy = cause === "request" ? requestedStrategy(loop) : standardStrategy(loop);
  return compactConversation(loop, { ...common, strategy: strategy.type, shorten: () => shorten(loop, key, strategy) });
}

/** The strategy for a compaction that was asked for: it goes as far as it can, and a summary keeps what was asked for. */
function requestedStrategy(loop: Loop): CompactionStrategy {
  const standard = standardStrategy(loop);
  const strategy = standard.type === "results-first" ? standard.then : standard;
  const { compactKeep } = sessionOf(loop);
  if (compactKeep === undefined) return strategy;
  if ("maxTokens" in strategy) return keepInSummary(strategy, compactKeep);
  warn(loop, `The compaction was asked to keep something, and its strategy, ${strategy.type}, writes no summary that could.`);
  return strategy;
}

/** What the agent says, or what is done where it says nothing. */
export function standardStrategy({ agent }: Loop): CompactionStrategy {
  return agent.options.compaction?.strategy ?? summariseStrategy();
}

export function dueAgain({ agent }: Loop): Required<Pick<Compaction, "isDue">> {
  const { compaction } = agent.options;
  const { maxMessages = Number.POSITIVE_INFINITY, maxTokens = Number.POSITIVE_INFINITY } =
    compaction === undefined ? {} : thresholdsOf(compaction);
  return { isDue: (messages, tokens) => messages > maxMessages || tokens > maxTokens };
}

/** Returns the conversation as a strategy shortens it, or `undefined` if there is nothing to gain. */
export async function shorten(loop: Loop, key: string, strategy: CompactionStrategy): Promise<Compacted | undefined> {
  const shortening = applyStrategy(strategy, entriesOf(loop), sessionOf(loop).request);
  if (shortening?.type !== "ask") return shortening;
  const summary = await summarise(loop, key, shortening.parts.old, shortening.strategy);
  return { entries: foldIntoSummary(shortening.parts, summary), summary };
}

/** What goes is written first: the effect stands before the compaction, in one append with it. */
export function keepInStore(loop: Loop, key: string, { entries, summary }: Compacted): void {
  const { store } = loop.agent.options.compaction ?? {};
  if (store === undefined) return;
  const isSummed = entries.some(({ message }) => message.summary === true && !loop.context.messages.includes(message));
  const { id, seq } = sessionOf(loop);
  declareEffects(loop, `${key}/store`, [
    {
      type: "write-memory",
      scope: store.scope,
      key: store.key,
      value: { summary: isSummed ? summary : leftOut(loop, entries), session: id, record: seq },
      // It says what was said in this session, and goes with it.
      options: { metadata: memoryMetadata("compaction") },
    },
  ]);
}

function leftOut(loop: Loop, entries: readonly Entry[]): string {
  const kept = new Set(entries.map(({ message }) => message));
  return transcriptOf(
    loop.context.messages.filter((message) => !kept.has(message)),
    LEFT_OUT_BYTES,
  );
}
