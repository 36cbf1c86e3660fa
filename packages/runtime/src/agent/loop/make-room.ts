import { conversationTokens } from "../../context/room/conversation-tokens.ts";
import type { RecordData } from "../../session/record-data.ts";
import { cutResults } from "../../context/room/cut-results.ts";
import type { Entry } from "../../context/room/entry.ts";
import { foldIntoSummary, splitForSummary } from "../../context/room/fold-into-summary.ts";
import { shortenResults } from "../../context/room/shorten-results.ts";
import { approximateTokens } from "../../providers/approximate-tokens.ts";
import { toolTokenBound } from "../../providers/token-bound.ts";
import { offeredTools } from "../features/output/output-request.ts";
import { compactByAgent, compactConversation, type Compacted } from "../features/compaction/compact-conversation.ts";
import { runOf, sessionOf, type Loop } from "../turn/loop.ts";
import { summarise } from "./summarise.ts";

/** How far a conversation was shortened, each further than the one before it. */
export type RoomLevel = "agent" | "results" | "summary" | "cut";
const LEVELS: readonly RoomLevel[] = ["agent", "results", "summary", "cut"];

/** Nearer to its window a request is not sent: some servers cut it silently, and estimates are off by some percent. */
const FULL = 0.95;
/** Once it is shortened, the conversation comes to about so much of what fits, so that the next shortening is far away. */
const GOAL = 0.5;
/** Shortened by less than this share, it would be too long again at once. */
const ENOUGH = 0.8;

/** Whether the next request surely fills the window of its model, as far as that is known. */
export function isTooLong(loop: Loop): boolean {
  const { contextWindow } = loop.models.resolve(runOf(loop).model).facts;
  if (contextWindow === undefined) return false;
  const { counted, conversation } = sessionOf(loop);
  const { messages } = conversation;
  // Costs nothing, and is so for nearly every request.
  if (conversation.tokenBound + toolTokenBound(offeredTools(loop)) <= FULL * contextWindow) return false;
  const tokens = counted
    ? counted.inputTokens + conversationTokens(messages.slice(counted.messages))
    : conversationTokens(messages) + approximateTokens(JSON.stringify(offeredTools(loop)));
  return tokens > FULL * contextWindow;
}

/** A part that a vendor refused is left out under keys of its own: it makes no room. */
function roomLevelOf({ level }: RecordData["compaction"]): RoomLevel {
  return level === undefined || level === "refused" ? "agent" : level;
}

/**
 * Shortens a conversation that does not fit, further than the last time: the agent's own `compact` comes first, then old results
 * become a line each, then all that is old becomes a summary, then what is left is cut. Recorded, so that a replay has the same.
 * @returns how far; nothing where nothing more can be left out, or hooks want it left as it is
 */
export async function makeRoom(loop: Loop, key: string, after: RoomLevel | undefined): Promise<RoomLevel | undefined> {
  const { execution, agent } = loop;
  const done = execution.lookup(`${key}/done`, "compaction");
  if (done) {
    const level = roomLevelOf(done.data);
    await compactConversation(loop, key, async () => undefined);
    return level;
  }
  const tokens = goalOf(loop);
  for (const level of LEVELS.slice(after === undefined ? 0 : LEVELS.indexOf(after) + 1)) {
    if (level === "agent") {
      if (agent.options.compact) return (await compactByAgent(loop, key)) ? level : undefined;
      continue;
    }
    const shorter = shortening(loop, key, level, tokens);
    if (shorter !== undefined) return (await compactConversation(loop, key, shorter)) ? level : undefined;
  }
  return undefined;
}

function goalOf(loop: Loop): number {
  const { contextWindow = Number.POSITIVE_INFINITY } = loop.models.resolve(runOf(loop).model).facts;
  // Where nobody knows the window, it is smaller than this.
  return GOAL * Math.min(contextWindow, conversationTokens(loop.context.messages));
}

/** What would shorten the conversation at this level; nothing where there is nothing to shorten, or too little. */
function shortening(loop: Loop, key: string, level: Exclude<RoomLevel, "agent">, tokens: number): (() => Promise<Compacted>) | undefined {
  const { context } = loop;
  const entries: readonly Entry[] = context.messages.map((message, index) => ({ message, policy: context.conversation.policyAt(index) }));
  if (level === "results") {
    const shortened = shortenResults(entries, tokens);
    if (shortened === undefined || tokensOf(shortened.entries) > ENOUGH * tokensOf(entries)) return undefined;
    const summary = `${shortened.shortened} old results were left out.`;
    return async () => ({ entries: shortened.entries, summary, level });
  }
  if (level === "summary") {
    const parts = splitForSummary(entries, tokens);
    if (parts === undefined) return undefined;
    return async () => {
      const summary = await summarise(loop, key, parts, tokens);
      return { entries: foldIntoSummary(parts, summary), summary, level };
    };
  }
  const cut = cutResults(entries, tokens);
  return cut && (async () => ({ entries: cut, summary: "The results that were left did not fit and were cut.", level }));
}

function tokensOf(entries: readonly Entry[]): number {
  return conversationTokens(entries.map(({ message }) => message));
}
