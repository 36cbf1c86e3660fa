import { UNKNOWN_USAGE, usd } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { formatAge, formatCost, formatCount, formatDuration, formatTokens } from "./figures.ts";

describe("figures", () => {
  it.each([
    ["0", "$0"],
    ["0.00001", "<$0.0001"],
    ["0.00005", "$0.0001"],
    ["0.1234", "$0.1234"],
    ["1", "$1.00"],
    ["12.345", "$12.35"],
    ["1234.5", "$1234.50"],
  ])("writes %s dollars as %s", (amount, text) => {
    expect(formatCost(usd(amount))).toBe(text);
  });

  it("says that an unknown cost is unknown", () => {
    expect(formatCost(null)).toBe("cost unknown");
  });

  it.each([
    [0, "0"],
    [999, "999"],
    [1_000, "1k"],
    [12_345, "12.3k"],
    [999_949, "999.9k"],
    [999_999, "1M"],
    [1_250_000, "1.3M"],
  ])("writes %d as %s", (count, text) => {
    expect(formatCount(count)).toBe(text);
  });

  it("tells known from unknown tokens", () => {
    expect(formatTokens(UNKNOWN_USAGE)).toBe("tokens unknown");
    expect(formatTokens({ ...UNKNOWN_USAGE, outputTokens: 5 })).toBe("? in, 5 out");
    expect(formatTokens({ ...UNKNOWN_USAGE, inputTokens: 2_000, cacheReadTokens: 1_500, outputTokens: 5 })).toBe(
      "2k in (1.5k cached), 5 out",
    );
  });

  it.each([
    [0, "0 ms"],
    [999, "999 ms"],
    [1_000, "1 s"],
    [59_949, "59.9 s"],
    [59_999, "1 m 00 s"],
    [125_000, "2 m 05 s"],
    [3_720_000, "1 h 02 m"],
  ])("writes %d ms as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it.each([
    [-5, "just now"],
    [59_999, "just now"],
    [60_000, "1 min ago"],
    [3_600_000, "1 h ago"],
    [48 * 3_600_000, "2 days ago"],
  ])("writes an age of %d ms as %s", (ms, text) => {
    expect(formatAge(ms)).toBe(text);
  });
});
