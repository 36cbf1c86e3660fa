import { expect, it } from "vitest";
import { manualClock } from "../../../test/wires/manual-clock.ts";
import { paced } from "./paced.ts";

it("does it at once, and what is asked for again and again once in a while", async () => {
  const clock = manualClock();
  const done: number[] = [];
  const run = paced(() => done.push(clock.now()), 1000, clock);
  const start = clock.now();
  for (let times = 0; times < 100; times++) run();
  expect(done).toEqual([start]);
  await clock.advance(1000);
  expect(done).toEqual([start, start + 1000]);
  await clock.advance(5000);
  expect(done).toHaveLength(2);
  run();
  expect(done).toEqual([start, start + 1000, start + 6000]);
});

it("does not forget what the work itself asks for", async () => {
  const clock = manualClock();
  let times = 0;
  const run = paced(() => (times++, run()), 1000, clock);
  run();
  await clock.advance(3500);
  expect(times).toBe(4);
});
