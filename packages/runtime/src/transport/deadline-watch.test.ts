import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type Timed, unwatchDeadline, watchDeadline } from "./deadline-watch.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const expired: string[] = [];
afterEach(() => void expired.splice(0));

function timed(name: string, ms: number): Timed & { deadline: number } {
  return { deadline: performance.now() + ms, expire: () => void expired.push(name) };
}

it("tells each once when its deadline has passed, in whatever order they were watched, but not those that are over", () => {
  const [late, over, soon] = [timed("late", 500), timed("over", 200), timed("soon", 100)];
  for (const one of [late, over, soon]) watchDeadline(one);
  vi.advanceTimersByTime(99);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(["soon"]);
  unwatchDeadline(over);
  vi.advanceTimersByTime(1000);
  expect(expired).toEqual(["soon", "late"]);
});

it("waits for a deadline that moved away without being told, and heeds a nearer one when told", () => {
  const [away, near] = [timed("away", 100), timed("near", 1000)];
  watchDeadline(away);
  watchDeadline(near);
  away.deadline = performance.now() + 300;
  near.deadline = performance.now() + 50;
  watchDeadline(near);
  vi.advanceTimersByTime(299);
  expect(expired).toEqual(["near"]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(["near", "away"]);
});

it("never ends what has no deadline, and keeps one timer for many, none when nothing is left", () => {
  const never = timed("never", Number.POSITIVE_INFINITY);
  const many = Array.from({ length: 100 }, (_, at) => timed("one", 100 + at));
  for (const one of [never, ...many]) watchDeadline(one);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(10_000);
  expect(expired).toHaveLength(100);
  unwatchDeadline(never);
  expect(vi.getTimerCount()).toBe(0);
});

it("lives through deadlines beyond what one timer can wait", () => {
  watchDeadline(timed("far", 2 ** 31 + 5000));
  vi.advanceTimersByTime(2 ** 31);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(5000);
  expect(expired).toEqual(["far"]);
});
