import { cutResults } from "../../../context/room/cut-results.ts";
import { leaveBare } from "../../../context/compaction/leave-bare.ts";
import { tokensOf } from "../../../context/compaction/apply-strategy.ts";
import { summarise as summariseStrategy, type SummaryStrategy } from "../../../context/compaction/strategy.ts";
import { foldIntoSummary, splitForSummary } from "../../../context/room/fold-into-summary.ts";
import { shortenResults } from "../../../context/room/shorten-results.ts";
import { compactConversation, entriesOf, type Compacted, type CompactionResult } from "../../features/compaction/compact-conversation.ts";
import { carryOutRemembered } from "../../features/effects/carry-out.ts";
import type { RecordData } from "../../../session/record-data.ts";
import { runOf, sessionOf, type Loop } from "../../turn/loop.ts";
import { compactAsSaid, keepInStore } from "./compact-by.ts";
import { summarise } from "./summarise.ts";

/** How far a conversation was shortened, each further than the one before it. */
export type RoomLevel = "agent" | "results" | "summary" | "cut" | "bare";
const LEVELS: readonly RoomLevel[] = ["agent", "results", "summary", "cut", "bare"];

/** Once it is shortened, the conversation comes to about so much of what fits, so that the next shortening is far away. */
const GOAL = 0.5;
/** Shortened by less than this share, it would be too long again at once. */
const ENOUGH = 0.8;

const STANDARD = summariseStrategy() as SummaryStrategy;

/** A part that a vendor refused is left out under keys of its own: it makes no room. */
function roomLevelOf({ level }: RecordData["compaction"]): RoomLevel {
  return level === undefined || level === "refused" ? "agent" : level;
}

/**
 * Shortens a conversation that does not fit, further than the last time: what the agent says of compaction comes first, then old results
 * become a line each, then all that is old becomes a summary, then what is left of results is cut, then all goes that need not stay, and
 * results are cut further as often as that helps. Recorded, so that a replay has the same.
 * @returns how far; nothing where nothing more can be left out, or hooks want it left as it is
 */
export async function makeRoom(loop: Loop, key: string, after: RoomLevel | undefined): Promise<RoomLevel | undefined> {
  const earlier = doneBefore(loop, key);
  if (earlier !== undefined) {
    await compactConversation(loop, { key: earlier.key, cause: "overflow", shorten: async () => undefined });
    return earlier.level;
  }
  await carryOutRemembered(loop);
  // What comes last can be gone further than before.
  const first = after === undefined ? 0 : Math.min(LEVELS.indexOf(after) + 1, LEVELS.length - 1);
  for (const level of LEVELS.slice(first)) {
    const result = await shortenTo(loop, `${key}/${level}`, level);
    if (result === "done") return level;
    if (result === "kept") return undefined;
  }
  return undefined;
}

/** What a replay finds done under this key. Earlier versions kept it there, not below. */
function doneBefore({ execution }: Loop, key: string): { readonly key: string; readonly level: RoomLevel } | undefined {
  const old = execution.lookup(`${key}/done`, "compaction");
  if (old !== undefined) return { key, level: roomLevelOf(old.data) };
  const level = LEVELS.find((each) => execution.has(`${key}/${each}/done`));
  return level && { key: `${key}/${level}`, level };
}

async function shortenTo(loop: Loop, key: string, level: RoomLevel): Promise<CompactionResult> {
  if (level !== "agent") {
    const shorten = shortening(loop, key, level);
    if (shorten === undefined) return "left";
    // The other levels sum up nothing, and would put less in the place of an earlier summary.
    const kept = level === "summary" && { keep: (compacted: Compacted) => keepInStore(loop, key, compacted) };
    return compactConversation(loop, { key, cause: "overflow", level, shorten, ...kept });
  }
  const { compact, compaction } = loop.agent.options;
  return compact === undefined && compaction?.strategy === undefined ? "left" : compactAsSaid(loop, { key, cause: "overflow" });
}

function goalOf(loop: Loop): number {
  const { contextWindow = Number.POSITIVE_INFINITY } = loop.models.resolve(runOf(loop).model).facts;
  // Where nobody knows the window, it is smaller than this.
  return GOAL * Math.min(contextWindow, tokensOf(entriesOf(loop)));
}

/** What would shorten the conversation at this level; nothing where there is nothing to shorten, or too little. */
function shortening(loop: Loop, key: string, level: Exclude<RoomLevel, "agent">): (() => Promise<Compacted>) | undefined {
  const entries = entriesOf(loop);
  const tokens = goalOf(loop);
  const { request } = sessionOf(loop);
  if (level === "results") {
    const shortened = shortenResults(entries, tokens);
    if (shortened === undefined || tokensOf(shortened.entries) > ENOUGH * tokensOf(entries)) return undefined;
    return async () => ({ entries: shortened.entries, summary: `${shortened.shortened} old results were left out.` });
  }
  if (level === "summary") {
    const parts = splitForSummary(entries, tokens, request);
    if (parts === undefined) return undefined;
    return async () => {
      const summary = await summarise(loop, key, parts.old, STANDARD, tokens);
      return { entries: foldIntoSummary(parts, summary), summary };
    };
  }
  if (level === "cut") {
    const cut = cutResults(entries, tokens);
    return cut && (async () => ({ entries: cut, summary: "The results that were left did not fit and were cut." }));
  }
  const bare = leaveBare(entries, tokens, request);
  return bare && (async () => ({ entries: bare, summary: "All that need not stay was left out." }));
}
