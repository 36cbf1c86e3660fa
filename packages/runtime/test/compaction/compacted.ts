import type { CompactionPolicy, Message } from "@keelson/protocol";
import fc from "fast-check";
import { applyStrategy, isShorter, tokensOf } from "../../src/context/compaction/apply-strategy.ts";
import { leaveBare } from "../../src/context/compaction/leave-bare.ts";
import {
  extractState,
  policyTrim,
  resultsFirst,
  slidingWindow,
  stubResults,
  summarise,
  type CompactionStrategy,
} from "../../src/context/compaction/strategy.ts";
import { cutResults } from "../../src/context/room/cut-results.ts";
import type { Entry } from "../../src/context/room/entry.ts";
import { foldIntoSummary, splitForSummary } from "../../src/context/room/fold-into-summary.ts";
import { shortenResults } from "../../src/context/room/shorten-results.ts";
import { histories } from "../wires/histories.ts";
import { TARGETS } from "../wires/targets.ts";

/** A way to shorten a conversation, as runs do it: nothing where it would gain nothing. */
export interface Way {
  readonly name: string;
  /** Its size, from a number of 0 to 1. */
  shorten(entries: readonly Entry[], size: number): readonly Entry[] | undefined;
  /** It takes messages out, or else it changes results alone. */
  readonly takesOut: boolean;
  /** It may cut results that the model has not responded to yet, and leave out what was said since. */
  readonly isLadder?: true;
}

const SUMMARY = "They did this and that.";

function byStrategy(name: string, takesOut: boolean, strategyOf: (size: number, entries: readonly Entry[]) => CompactionStrategy): Way {
  return {
    name,
    takesOut,
    shorten(entries, size) {
      const shortening = applyStrategy(strategyOf(size, entries), entries);
      if (shortening === undefined) return undefined;
      const after = shortening.type === "done" ? shortening.entries : foldIntoSummary(shortening.parts, SUMMARY);
      return isShorter(after, entries) ? after : undefined;
    },
  };
}

function ofLadder(
  name: string,
  takesOut: boolean,
  shorten: (entries: readonly Entry[], goal: number) => readonly Entry[] | undefined,
): Way {
  return {
    name,
    takesOut,
    isLadder: true,
    shorten(entries, size) {
      const after = shorten(entries, Math.floor(size * tokensOf(entries)));
      return after !== undefined && isShorter(after, entries) ? after : undefined;
    },
  };
}

const countOf = (size: number, { length }: readonly Entry[]): number => Math.floor(size * length);

export const STRATEGIES: readonly Way[] = [
  byStrategy("sliding window", true, (size, entries) => slidingWindow({ keep: Math.max(1, countOf(size, entries)) })),
  byStrategy("policy trim", true, (size, entries) => policyTrim({ target: Math.max(1, Math.floor(size * tokensOf(entries))) })),
  byStrategy("stub results", false, (size, entries) => stubResults({ keep: countOf(size, entries) })),
  byStrategy("results first", true, (size, entries) => resultsFirst(summarise({ keep: countOf(size, entries) }))),
  byStrategy("summarise", true, (size, entries) => summarise({ keep: countOf(size, entries) })),
  byStrategy("extract state", true, (size, entries) => extractState({ keep: countOf(size, entries) })),
];

/** What is done where a request does not fit, in its order. */
export const LADDER: readonly Way[] = [
  ofLadder("old results in lines", false, (entries, goal) => shortenResults(entries, goal)?.entries),
  ofLadder("a summary", true, (entries, goal) => {
    const parts = splitForSummary(entries, goal);
    return parts && foldIntoSummary(parts, SUMMARY);
  }),
  ofLadder("results cut", false, cutResults),
  ofLadder("what must stay", true, leaveBare),
];

const PADDING = "some words of no great weight ".repeat(40);

/** Conversations of several vendors' models, with long and short results, orphans, late results, and what compaction may do to each message. */
export const conversations: fc.Arbitrary<readonly Entry[]> = fc
  .record({
    history: histories(TARGETS.map(({ wire, model }) => ({ wire, model }))),
    policies: fc.infiniteStream(
      fc.constantFrom<CompactionPolicy>("normal", "normal", "normal", "normal", "pinned", "compress-first", "discard-when-done"),
    ),
    isLong: fc.infiniteStream(fc.boolean()),
    earlier: fc.boolean(),
  })
  .map(({ history, policies, isLong, earlier }) => {
    const entries = history.messages.map((message): Entry => ({ message: lengthened(message, next(isLong)), policy: next(policies) }));
    return earlier ? [summaryOf("They began."), ...entries] : entries;
  })
  // A run begins with what somebody asked for.
  .filter((entries) => entries.some(({ message }) => message.role === "user" && message.summary !== true));

function summaryOf(text: string): Entry {
  return { message: { role: "user", content: [{ type: "text", text: `${text} ${PADDING}` }], summary: true }, policy: "pinned" };
}

function next<T>(stream: Iterator<T>): T {
  return stream.next().value as T;
}

function lengthened(message: Message, isLong: boolean): Message {
  if (!isLong || message.role !== "tool") return message;
  const content = message.content.map((part) =>
    part.type === "tool-result" && typeof part.output === "string" ? { ...part, output: `${part.output} ${PADDING}` } : part,
  );
  return { ...message, content };
}
