import { describe, expect, it } from "vitest";
import { createMessageLimit } from "./message-limit.ts";

describe("the limit of messages that nobody asked for", () => {
  it("lets 5,000 through at once and 200 a second after that", () => {
    let now = 0;
    const limit = createMessageLimit({ now: () => now, after: () => () => {} });
    const count = (times: number): number => Array.from({ length: times }, () => limit.isExceeded()).filter((exceeded) => !exceeded).length;
    expect(count(6000)).toBe(5000);
    now += 500;
    expect(count(200)).toBeGreaterThanOrEqual(98);
    now += 3_600_000;
    expect(count(6000)).toBe(5000);
  });
});
