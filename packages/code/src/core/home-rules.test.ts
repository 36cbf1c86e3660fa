import { expect, it } from "vitest";
import { withHomeRules } from "./home-rules.ts";

const patterns = (pattern: string, behavior: "allow" | "deny" | "ask", home?: string) =>
  withHomeRules([{ pattern, behavior }], home ?? "/home/ada").map((rule) => rule.pattern);

it("gives rules about ~ the home folder: what denies and asks is added, what allows is only about it", () => {
  expect(patterns("read_file(~/notes/**)", "deny")).toEqual(["read_file(~/notes/**)", "read_file(/home/ada/notes/**)"]);
  expect(patterns("*(~)", "ask")).toEqual(["*(~)", "*(/home/ada)"]);
  expect(patterns("read_file(~/notes/**)", "allow")).toEqual(["read_file(/home/ada/notes/**)"]);
  expect(patterns("mcp__fs__read(~/x)", "allow")).toEqual(["mcp__fs__read(~/x)", "mcp__fs__read(/home/ada/x)"]);
});

it("leaves all other rules as they are", () => {
  for (const pattern of ["read_file", "read_file(~ada/x)", "read_file(./~/x)", "read_file(a/~/x)", "bash(~/bin/x *)", "bash(cat ~/x)"])
    expect(patterns(pattern, "deny")).toEqual([pattern]);
  expect(patterns("read_file(~/x)", "allow", "/home/a*b")).toEqual(["read_file(~/x)"]);
});
