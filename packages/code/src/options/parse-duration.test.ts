import { expect, it } from "vitest";
import { parseDuration } from "./parse-duration.ts";

it.each([
  ["90", 90_000],
  ["90s", 90_000],
  ["500ms", 500],
  ["10m", 600_000],
  ["1.5h", 5_400_000],
])("reads %s", (text, ms) => {
  expect(parseDuration(text, "--timeout")).toBe(ms);
});

it.each(["", "0", "-1", "1d", "10 minutes", "1e3", "0.0001ms"])("refuses %j", (text) => {
  expect(() => parseDuration(text, "--timeout")).toThrow(/no duration/);
});
