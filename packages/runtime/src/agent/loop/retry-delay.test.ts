import { expect, it } from "vitest";
import { retryDelayMs } from "./retry-delay.ts";

it("a retry waits twice as long as the one before it, up to the longest that it may wait", () => {
  const delays = Array.from({ length: 10 }, (_, index) => retryDelayMs(index + 1, undefined, 0, 60_000));
  expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
});

it("a retry waits up to a half less by chance, and never less than the vendor asked for", () => {
  expect([retryDelayMs(1, undefined, 1, 9000), retryDelayMs(1, undefined, 0.5, 9000)]).toEqual([250, 375]);
  expect([retryDelayMs(1, 70_000, 0, 90_000), retryDelayMs(1, 1, 0, 90_000), retryDelayMs(3, 1, 0, 700)]).toEqual([70_000, 500, 700]);
});
