import { textMessage } from "@keelson/protocol";
import { messageUnits, type MessageUnit } from "../compaction/message-units.ts";
import type { Entry } from "./entry.ts";
import { tailStart } from "./tail-start.ts";

/** A conversation around what a summary can stand for: what stays of it before the last of that, and behind it. */
export interface Foldable {
  readonly old: readonly Entry[];
  readonly before: readonly Entry[];
  readonly behind: readonly Entry[];
}

/**
 * Parts what is old from what stays and from what the model responds to next; of what was said to it since its last response, so much
 * as comes to `tokens` is new.
 * @param request where the last request of the user stands
 * @returns nothing where all of it is new
 */
export function splitForSummary(entries: readonly Entry[], tokens: number, request?: number): Foldable | undefined {
  const start = tailStart(entries, tokens);
  return splitAround(
    entries,
    messageUnits(entries, request),
    ({ end, stays }) => end <= start && (stays === undefined || stays === "unread"),
  );
}

/** @returns nothing where no unit is old, or no more than an earlier summary */
export function splitAround(
  entries: readonly Entry[],
  units: readonly MessageUnit[],
  isOld: (unit: MessageUnit) => boolean,
): Foldable | undefined {
  const old = units.filter(isOld);
  const last = old.at(-1);
  if (last === undefined) return undefined;
  const entriesOf = (some: readonly MessageUnit[]): readonly Entry[] => some.flatMap(({ start, end }) => entries.slice(start, end));
  const folded = entriesOf(old);
  if (folded.every(({ message }) => message.summary === true)) return undefined;
  return {
    old: folded,
    before: entriesOf(units.filter((unit) => unit.end <= last.start && !isOld(unit))),
    behind: entriesOf(units.filter((unit) => unit.start >= last.end)),
  };
}

/** The conversation with this summary in the place of what is old. */
export function foldIntoSummary({ before, behind }: Foldable, summary: string): readonly Entry[] {
  const text = `The conversation became too long, and its older part was left out. This is what it came to:\n\n${summary}`;
  return [...before, { message: { ...textMessage("user", text), summary: true }, policy: "pinned" }, ...behind];
}
