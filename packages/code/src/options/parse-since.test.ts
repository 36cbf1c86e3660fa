import { expect, it } from "vitest";
import { parseSince } from "./parse-since.ts";

it.each([
  ["7d", { ageMs: 604_800_000 }],
  ["36h", { ageMs: 129_600_000 }],
  ["2026-11-20", { at: new Date(2026, 10, 20).getTime() }],
  ["2026-11-20T09:30", { at: new Date(2026, 10, 20, 9, 30).getTime() }],
  ["2026-11-20T09:30Z", { at: Date.UTC(2026, 10, 20, 9, 30) }],
  ["2026-11-20T09:30:15+02:00", { at: Date.UTC(2026, 10, 20, 7, 30, 15) }],
])("reads %s", (text, since) => expect(parseSince(text, "--since")).toEqual(since));

it.each(["", "7", "yesterday", "2026-02-30", "2026-13-01", "2026-11", "2026-11-20T25:00", "2026-11-20 09:30", "7y", "-7d"])(
  "refuses %j, naming the option",
  (text) => expect(() => parseSince(text, "--since")).toThrow(/^--since .* is no (?:time|age)/),
);
