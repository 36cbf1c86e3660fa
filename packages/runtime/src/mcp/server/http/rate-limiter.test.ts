import fc from "fast-check";
import { expect, it } from "vitest";
import { RateLimiter } from "./rate-limiter.ts";

it("never lets more through than a burst and what the time since gave, and says when there is more", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 600 }),
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 100 }),
      (perMinute, burst, pauses) => {
        let now = 0;
        let through = 0;
        const limiter = new RateLimiter({ perMinute, burst }, () => now);
        for (const pause of pauses) {
          now += pause;
          const waitMs = limiter.take("a");
          if (waitMs === 0) through += 1;
          else {
            now += waitMs;
            expect(limiter.take("a")).toBe(0);
            through += 1;
          }
          expect(through).toBeLessThanOrEqual(burst + (now * perMinute) / 60_000 + 1e-6);
        }
      },
    ),
  );
});

it("counts each client for itself, and forgets those that rested longest", () => {
  const limiter = new RateLimiter({ perMinute: 1, burst: 1 }, () => 0);
  expect([limiter.take("a"), limiter.take("b")]).toEqual([0, 0]);
  expect(limiter.take("a")).toBe(60_000);
  for (let client = 0; client < 10_000; client += 1) limiter.take(`c${client}`);
  expect(limiter.take("b")).toBe(0);
});
