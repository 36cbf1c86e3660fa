import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration } from "./duration.ts";

describe("a duration", () => {
  it("is read from numbers with units [GEN-04]", () => {
    expect(parseDuration("30s")).toBe(30_000);
    expect(parseDuration("1h 30m")).toBe(5_400_000);
    expect(parseDuration("1h30m")).toBe(5_400_000);
    expect(parseDuration("2days 5ms")).toBe(172_800_005);
    expect(parseDuration(" 1 week ")).toBe(604_800_000);
    expect(parseDuration("1M")).toBe(2_630_016_000);
    expect(parseDuration("1m")).toBe(60_000);
    expect(parseDuration("1year")).toBe(31_557_600_000);
    expect(parseDuration("1500us")).toBe(1.5);
    expect(parseDuration("0s")).toBe(0);
  });

  it("is written as people write it [GEN-04]", () => {
    expect([0, 1, 30_000, 5_400_000, 86_400_000, 172_800_005].map(formatDuration)).toEqual([
      "0s",
      "1ms",
      "30s",
      "1h 30m",
      "1day",
      "2days 5ms",
    ]);
  });

  it("is read as it was written [GEN-04]", () => {
    fc.assert(
      fc.property(fc.nat({ max: Number.MAX_SAFE_INTEGER }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
    );
  });

  it("is refused with what is wrong and how to write one", () => {
    expect(() => parseDuration("")).toThrow(/cannot be read from "" on.*"30s"/);
    expect(() => parseDuration("30")).toThrow(/cannot be read from "30" on/);
    expect(() => parseDuration("1h soon")).toThrow(/cannot be read from "soon" on/);
    expect(() => parseDuration("-1s")).toThrow(/cannot be read/);
    expect(() => parseDuration("3 fortnights")).toThrow(/unknown unit "fortnights"/);
    expect(() => parseDuration("99999999999999999999 years")).toThrow(/too long/);
    for (const bad of [-1, 1.5, Number.NaN, Infinity]) expect(() => formatDuration(bad)).toThrow(RangeError);
  });
});
