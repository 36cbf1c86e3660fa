import type { Message } from "@keelson/protocol";
import type { Entry } from "../room/entry.ts";
import { conversationTokens } from "../room/conversation-tokens.ts";
import { splitAround, type Foldable } from "../room/fold-into-summary.ts";
import { inLines } from "../room/shorten-results.ts";
import { messageUnits, type MessageUnit } from "./message-units.ts";
import type { CompactionStrategy, SummaryStrategy } from "./strategy.ts";

/** What a strategy makes of a conversation. */
export type Shortening =
  | { readonly type: "done"; readonly entries: readonly Entry[]; readonly summary: string }
  /** The model is asked first what `parts.old` comes to; {@link foldIntoSummary} puts its summary there. */
  | { readonly type: "ask"; readonly strategy: SummaryStrategy; readonly parts: Foldable };

/**
 * Applies a strategy. Pure. Whatever it is, units of messages stay whole and those that stay do; nothing changes its place, and nothing
 * comes to more tokens than before.
 * @param request where the last request of the user stands; default: the last user message that is no summary
 * @returns nothing where there is nothing to shorten
 */
export function applyStrategy(strategy: CompactionStrategy, entries: readonly Entry[], request?: number): Shortening | undefined {
  const units = messageUnits(entries, request);
  switch (strategy.type) {
    case "sliding-window":
      return without(entries, units, beyondWindow(entries, units, strategy.keep));
    case "policy-trim":
      return without(entries, units, toTrim(entries, units, strategy.target));
    case "stub-results":
      return withStubs(entries, units, strategy.keep);
    case "results-first":
      return resultsThen(strategy.then, entries, units, request);
    case "summarise":
    case "extract-state": {
      const kept = beyondWindow(entries, units, strategy.keep);
      const parts = splitAround(entries, units, (unit) => kept.has(unit) || isSummary(entries, unit));
      return parts && { type: "ask", strategy, parts };
    }
  }
}

/** The share of the tokens that shortened results are to leave. */
const RESULTS_GOAL = 0.4;
/** If more than this share is left, the results were not what made the conversation long. */
const RESULTS_ENOUGH = 0.7;

function resultsThen(
  then: CompactionStrategy,
  entries: readonly Entry[],
  units: readonly MessageUnit[],
  request: number | undefined,
): Shortening | undefined {
  const before = tokensOf(entries);
  const mayChange = changeable(entries, units);
  let left = before;
  let shortened = 0;
  const shorter = entries.map((entry): Entry => {
    if (left <= RESULTS_GOAL * before || entry.message.role !== "tool" || !mayChange.has(entry)) return entry;
    const message = inLines(entry.message);
    if (message === entry.message) return entry;
    left -= tokensOf([entry]) - tokensOf([{ ...entry, message }]);
    shortened++;
    return { ...entry, message };
  });
  if (shortened === 0) return applyStrategy(then, entries, request);
  const done: Shortening = { type: "done", entries: shorter, summary: `${shortened} old results were left out.` };
  return left <= RESULTS_ENOUGH * before ? done : (applyStrategy(then, shorter, request) ?? done);
}

/** The entries of units that need not stay as they are. */
function changeable(entries: readonly Entry[], units: readonly MessageUnit[]): ReadonlySet<Entry> {
  return new Set(units.flatMap(({ start, end, stays }) => (stays === undefined ? entries.slice(start, end) : [])));
}

/** Whether a conversation comes to less than before: what does not is not put in its place. */
export function isShorter(after: readonly Entry[], before: readonly Entry[]): boolean {
  return tokensOf(after) < tokensOf(before);
}

/** About as many tokens as the entries come to. */
export function tokensOf(entries: readonly Entry[]): number {
  return conversationTokens(entries.map(({ message }) => message));
}

/** The units that are not among the newest `keep` messages and need not stay. */
function beyondWindow(entries: readonly Entry[], units: readonly MessageUnit[], keep: number): ReadonlySet<MessageUnit> {
  const beyond = new Set<MessageUnit>();
  let left = keep;
  for (const unit of units.toReversed()) {
    if (unit.stays === "pinned" || isSummary(entries, unit)) continue;
    left -= unit.end - unit.start;
    // Whatever is older than the first that has no room goes as well.
    if (left < 0 && unit.stays === undefined) beyond.add(unit);
  }
  return beyond;
}

function isSummary(entries: readonly Entry[], { start }: MessageUnit): boolean {
  return entries[start]?.message.summary === true;
}

const TRIMMED_FIRST = ["discard-when-done", "compress-first", "normal"] as const;

function toTrim(entries: readonly Entry[], units: readonly MessageUnit[], target: number): ReadonlySet<MessageUnit> {
  const trimmed = new Set<MessageUnit>();
  let left = tokensOf(entries);
  for (const policy of TRIMMED_FIRST)
    for (const unit of units) {
      if (left <= target) return trimmed;
      if (unit.stays !== undefined || isSummary(entries, unit) || policyOf(entries, unit) !== policy) continue;
      trimmed.add(unit);
      left -= tokensOf(entries.slice(unit.start, unit.end));
    }
  return trimmed;
}

/** A unit goes as late as the last of its messages may. */
function policyOf(entries: readonly Entry[], { start, end }: MessageUnit): (typeof TRIMMED_FIRST)[number] | undefined {
  return TRIMMED_FIRST.findLast((policy) => entries.slice(start, end).some((entry) => entry.policy === policy));
}

function without(entries: readonly Entry[], units: readonly MessageUnit[], out: ReadonlySet<MessageUnit>): Shortening | undefined {
  if (out.size === 0) return undefined;
  const kept = units.filter((unit) => !out.has(unit)).flatMap(({ start, end }) => entries.slice(start, end));
  return { type: "done", entries: kept, summary: `${entries.length - kept.length} messages were left out.` };
}

function withStubs(entries: readonly Entry[], units: readonly MessageUnit[], keep: number): Shortening | undefined {
  const mayChange = changeable(entries, units);
  let whole = keep;
  let stubs = 0;
  const stubbed = entries.toReversed().map((entry): Entry => {
    if (entry.message.role !== "tool" || --whole >= 0 || !mayChange.has(entry)) return entry;
    const message: Message = inLines(entry.message);
    if (message === entry.message) return entry;
    stubs++;
    return { ...entry, message };
  });
  return stubs === 0 ? undefined : { type: "done", entries: stubbed.toReversed(), summary: `${stubs} old results were left out.` };
}
