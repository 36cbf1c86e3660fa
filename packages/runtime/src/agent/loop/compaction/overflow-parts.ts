import type { RequestPartSize } from "@keelson/protocol";
import { messageUnits, type Stays } from "../../../context/compaction/message-units.ts";
import { tokensOf } from "../../../context/compaction/apply-strategy.ts";
import { approximateTokens } from "../../../providers/approximate-tokens.ts";
import { entriesOf } from "../../features/compaction/compact-conversation.ts";
import { offeredTools } from "../../features/output/output-request.ts";
import { sessionOf, type Loop } from "../../turn/loop.ts";

const IN_WORDS: { readonly [Why in Stays]: string } = {
  pinned: "pinned messages",
  open: "calls that wait for a response, with their results",
  request: "the last request of the user",
  unread: "what was said since the last response",
};

/** What a request that does not fit is made of, the largest first. */
export function overflowParts(loop: Loop, system: string | undefined): readonly RequestPartSize[] {
  const entries = entriesOf(loop);
  const sizes = new Map<string, number>();
  const add = (part: string, tokens: number): void => {
    if (tokens > 0) sizes.set(part, (sizes.get(part) ?? 0) + Math.round(tokens));
  };
  add("the system prompt", approximateTokens(system ?? ""));
  const tools = offeredTools(loop);
  if (tools.length > 0) add(`${tools.length} tools`, approximateTokens(JSON.stringify(tools)));
  for (const { start, end, stays } of messageUnits(entries, sessionOf(loop).request))
    add(stays === undefined ? "earlier messages" : IN_WORDS[stays], tokensOf(entries.slice(start, end)));
  return [...sizes].map(([part, tokens]) => ({ part, tokens })).toSorted((a, b) => b.tokens - a.tokens);
}
