import type { Xray, XrayPart } from "keelson/context";
import { describe, expect, it } from "vitest";
import { contextLines } from "./context-lines.ts";
import { createStyle } from "../text/style.ts";

const part = (source: XrayPart["source"], name: string, tokens: number): XrayPart => ({
  source,
  name,
  tokens,
  cachedTokens: 0,
  cost: "0" as never,
});
const xrayOf = (parts: readonly XrayPart[], rest: Partial<Xray> = {}): Xray => ({
  model: "a/one",
  tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0),
  reported: true,
  exact: false,
  cachedTokens: 4000,
  cost: "0.0123" as never,
  parts,
  ...rest,
});
const style = createStyle(false);

describe("the lines of /context", () => {
  it("tell what takes most first, and what stands in several places once", () => {
    const parts = [
      part("system", "system prompt", 1000),
      part("message", "user", 500),
      part("file", "a.ts", 8000),
      part("message", "user", 500),
    ];
    expect(contextLines(xrayOf(parts), { style, columns: 80 })).toEqual([
      "10k tokens in the last request, 4k of them cached · $0.0123",
      "     8k  80%  file     a.ts",
      "     1k  10%  system   system prompt",
      "     1k  10%  message  user (2)",
    ]);
  });

  it("fit the screen, show nothing that a terminal would obey, and say what they left out", () => {
    const parts = Array.from({ length: 30 }, (_, at) => part("file", `folder/\u001b[2J${"x".repeat(100)}${at}`, 10));
    const lines = contextLines(xrayOf(parts, { cost: null, reported: false, cachedTokens: null }), { style, columns: 60 });
    expect(lines[0]).toBe("about 300 tokens in the last request · cost unknown");
    expect(lines).toHaveLength(22);
    expect(lines.at(-1)).toBe("    100  33%  in 10 more");
    expect(lines.every((line) => line.length <= 60 && !line.includes("\u001b"))).toBe(true);
  });
});
