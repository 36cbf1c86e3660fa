import { expect, it } from "vitest";
import { parseAge } from "./parse-age.ts";

it.each([
  ["36h", 129_600_000],
  ["30d", 2_592_000_000],
  ["1.5w", 907_200_000],
  ["0d", 0],
])("reads %s as %d ms", (text, ms) => expect(parseAge(text, "--older-than")).toBe(ms));

it.each(["", "30", "d", "-1d", "1 d", "1e3d", "9".repeat(20) + "d"])("refuses %j, naming the option", (text) =>
  expect(() => parseAge(text, "--older-than")).toThrow(/^--older-than .* is no age/),
);
