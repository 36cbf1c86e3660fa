import type { Message } from "@keelson/protocol";
import type { Entry } from "../room/entry.ts";

/** Why a compaction may not take messages out. */
export type Stays = "pinned" | "open" | "request" | "unread";

/** Neighbouring messages that stay or go together: responses with the results of their calls, or one message alone. */
export interface MessageUnit {
  readonly start: number;
  /** Behind its last message. */
  readonly end: number;
  /** Absent where it may go. */
  readonly stays?: Stays;
}

/**
 * Parts a conversation into units. What is pinned stays; so do calls without a result or that the model has not responded to yet, what was
 * said to it since its last response, and the last request of the user.
 * @param request where that stands; default: the last user message that is no summary
 */
export function messageUnits(entries: readonly Entry[], request: number = lastRequest(entries)): readonly MessageUnit[] {
  const pairs = pairedCalls(entries);
  const lastResponse = entries.findLastIndex(({ message }) => message.role === "assistant");
  const units: MessageUnit[] = [];
  for (let start = 0; start < entries.length; start = (units.at(-1) as MessageUnit).end) {
    const end = endOfUnit(entries, start, pairs.reach);
    const stays = reasonToStay({ start, end }, entries, { open: pairs.open, lastResponse, request });
    units.push({ start, end, ...(stays && { stays }) });
  }
  return units;
}

function lastRequest(entries: readonly Entry[]): number {
  return entries.findLastIndex(({ message }) => message.role === "user" && message.summary !== true);
}

interface Places {
  /** Where calls stand that have no result. */
  readonly open: ReadonlySet<number>;
  readonly lastResponse: number;
  readonly request: number;
}

function reasonToStay({ start, end }: MessageUnit, entries: readonly Entry[], { open, lastResponse, request }: Places): Stays | undefined {
  const within = entries.slice(start, end);
  const holds = (index: number): boolean => start <= index && index < end;
  if (within.some(isPinned)) return "pinned";
  if (within.some((_, offset) => open.has(start + offset))) return "open";
  if (holds(lastResponse) && within.some(({ message }) => hasCall(message))) return "open";
  if (holds(request)) return "request";
  return start > lastResponse ? "unread" : undefined;
}

/** A summary is pinned against trimming only: the next summary takes it in. */
function isPinned({ message, policy }: Entry): boolean {
  return policy === "pinned" && message.summary !== true;
}

function hasCall({ content }: Message): boolean {
  return content.some(({ type }) => type === "tool-call");
}

/** For each message with calls, where the last result of one of them stands; and where calls have none. */
function pairedCalls(entries: readonly Entry[]): { readonly reach: ReadonlyMap<number, number>; readonly open: ReadonlySet<number> } {
  const reach = new Map<number, number>();
  const calls = new Map<string, number>();
  const unanswered = new Map<string, number>();
  const open = new Set<number>();
  for (const [index, { message }] of entries.entries())
    for (const part of message.content) {
      if (part.type === "tool-call") {
        // A vendor that gives an id twice means another call: the first will have no result any more.
        const before = unanswered.get(part.id);
        if (before !== undefined) open.add(before);
        calls.set(part.id, index);
        unanswered.set(part.id, index);
      }
      const call = part.type === "tool-result" ? calls.get(part.id) : undefined;
      if (part.type !== "tool-result" || call === undefined) continue;
      unanswered.delete(part.id);
      reach.set(call, index);
    }
  for (const index of unanswered.values()) open.add(index);
  return { reach, open };
}

/** Responses that follow one another are one to a vendor; what came between a call and its result stays with them. */
function endOfUnit(entries: readonly Entry[], start: number, reach: ReadonlyMap<number, number>): number {
  let end = start + 1;
  for (let at = start; at < end; at++) {
    end = Math.max(end, (reach.get(at) ?? at) + 1);
    if (at === end - 1 && roleAt(entries, at) === "assistant" && roleAt(entries, end) === "assistant") end++;
  }
  return end;
}

function roleAt(entries: readonly Entry[], index: number): Message["role"] | undefined {
  return entries[index]?.message.role;
}
