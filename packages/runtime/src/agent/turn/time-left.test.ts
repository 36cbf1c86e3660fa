import { expect, it } from "vitest";
import type { Journal } from "../../session/journal.ts";
import { timeLeft } from "./time-left.ts";

/** A log of four records, in which a run has begun at 1000 with the record of this number. */
const begunWith = (startSeq: number): Journal =>
  ({ committedSeq: 4, state: { run: { startSeq, startedAt: 1000 } } }) as Partial<Journal> as Journal;

it("a run has its time from when it began, by the log; one that begins here has all of it", () => {
  expect(timeLeft(begunWith(2), 1700, undefined, 1000)).toBe(300);
  expect(timeLeft(begunWith(4), 1700, undefined, 1000)).toBe(300);
  expect(timeLeft(begunWith(5), 1700, undefined, 1000)).toBe(1000);
  expect(timeLeft({ committedSeq: 0, state: {} } as Partial<Journal> as Journal, 1700, undefined, 1000)).toBe(1000);
});

it("a run ends at its deadline or after its time, whichever comes first; without either it has no end", () => {
  expect(timeLeft(begunWith(2), 1700, 1800, 1000)).toBe(100);
  expect(timeLeft(begunWith(2), 1700, 5000, 1000)).toBe(300);
  expect(timeLeft(begunWith(2), 1700, 1800, undefined)).toBe(100);
  expect(timeLeft(begunWith(2), 1700, 1600, undefined)).toBe(0);
  expect(timeLeft(begunWith(2), 1700, undefined, undefined)).toBeUndefined();
});

it("a run has no more than its whole time where the clock was set back since it began", () => {
  expect(timeLeft(begunWith(2), 100, undefined, 1000)).toBe(1000);
});
