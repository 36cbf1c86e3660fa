import { expect, it } from "vitest";
import { parseSize } from "./parse-size.ts";

it.each([
  ["500k", 500_000],
  ["200M", 200_000_000],
  ["1.5GB", 1_500_000_000],
])("reads %s as %d bytes", (text, bytes) => expect(parseSize(text, "--max-size")).toBe(bytes));

it.each(["", "200", "M", "-1M", "1T", "9".repeat(20) + "M"])("refuses %j, naming the option", (text) =>
  expect(() => parseSize(text, "--max-size")).toThrow(/^--max-size .* is no size/),
);
