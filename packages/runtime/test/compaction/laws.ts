import type { Message } from "@keelson/protocol";
import { expect } from "vitest";
import { tokensOf } from "../../src/context/compaction/apply-strategy.ts";
import type { Entry } from "../../src/context/room/entry.ts";
import type { Way } from "./compacted.ts";

/** What holds of a conversation and of what a compaction made of it, however it was done. Judged without the code under test. */
export function expectKept(before: readonly Entry[], after: readonly Entry[], way: Way): void {
  const places = placesIn(before, after);
  const kept = new Set(places.filter((place) => place >= 0));
  expectOrder(places);
  expectPairs(before, kept);
  expectWhole(before, after, kept, way);
  expectSummary(before, after, kept, way);
  expect(tokensOf(after), "it grows").toBeLessThan(tokensOf(before));
}

/** Where each message of `after` stood; -1 for what is new. What changed stands for the message with the same calls and role. */
function placesIn(before: readonly Entry[], after: readonly Entry[]): readonly number[] {
  const isChanged = (entry: Entry): boolean => before.every(({ message }) => message !== entry.message);
  let from = 0;
  return after.map((entry) => {
    const place = before.findIndex(
      ({ message }, index) => index >= from && (message === entry.message || (isChanged(entry) && isSameSlot(message, entry.message))),
    );
    if (place >= 0) from = place + 1;
    return place;
  });
}

function isSameSlot(a: Message, b: Message): boolean {
  return b.role === "tool" && b.summary !== true && slotsOf(a) === slotsOf(b);
}

function slotsOf({ role, content }: Message): string {
  return `${role} ${content.map((part) => `${part.type} ${"id" in part ? String(part.id) : ""}`).join()}`;
}

/** Nothing changes its place. */
function expectOrder(places: readonly number[]): void {
  const old = places.filter((place) => place >= 0);
  expect(old, "messages changed their places").toEqual(old.toSorted((a, b) => a - b));
}

/** A call and its result stay or go together. */
function expectPairs(before: readonly Entry[], kept: ReadonlySet<number>): void {
  for (const [call, result] of pairsOf(before))
    expect(kept.has(result), `a call lost its result, or a result its call: ${call}, ${result}`).toBe(kept.has(call));
}

/** The places of calls and of their results. */
function pairsOf(entries: readonly Entry[]): readonly (readonly [number, number])[] {
  return entries.flatMap(({ message: { content } }, result) =>
    content.flatMap((part): readonly (readonly [number, number])[] => {
      if (part.type !== "tool-result") return [];
      const call = entries.findLastIndex(
        ({ message }, index) => index <= result && message.content.some((each) => each.type === "tool-call" && each.id === part.id),
      );
      return call < 0 ? [] : [[call, result]];
    }),
  );
}

/** What is pinned stays as it is, and so do open calls, the last request of the user, and what the model has not responded to. */
function expectWhole(before: readonly Entry[], after: readonly Entry[], kept: ReadonlySet<number>, { isLadder }: Way): void {
  const pairs = pairsOf(before);
  const lastResponse = before.findLastIndex(({ message }) => message.role === "assistant");
  const request = before.findLastIndex(({ message }) => message.role === "user" && message.summary !== true);
  for (const [index, { message, policy }] of before.entries()) {
    const hasCall = message.content.some(({ type }) => type === "tool-call");
    const isOpen = hasCall && (index === lastResponse || !pairs.some(([call]) => call === index));
    if (policy === "pinned" && message.summary !== true) expect(after, "what is pinned is gone, or changed").toContain(before[index]);
    if (isOpen) expect(kept.has(index), "an open call is gone").toBe(true);
    if (index === request) expect(kept.has(index), "the last request of the user is gone").toBe(true);
    if (isLadder !== true && index > lastResponse) expect(after, "what nobody responded to is gone, or changed").toContain(before[index]);
  }
}

/** One summary stands for all that is gone, and for those before it. */
function expectSummary(before: readonly Entry[], after: readonly Entry[], kept: ReadonlySet<number>, { name, takesOut }: Way): void {
  if (!takesOut) expect(kept.size, "messages are gone").toBe(before.length);
  const isNew = ({ message }: Entry): boolean => message.summary === true && !before.some((entry) => entry.message === message);
  const added = after.filter(isNew);
  expect(added.length, "more than one summary was added").toBeLessThanOrEqual(1);
  if (!/summar|state/.test(name)) return;
  expect(added).toHaveLength(1);
  expect(
    after.filter(({ message }) => message.summary === true),
    "summaries pile up",
  ).toHaveLength(1);
}
