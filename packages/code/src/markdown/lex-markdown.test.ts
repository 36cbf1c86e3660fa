import { describe, expect, it } from "vitest";
import { createPlainHighlight } from "./highlight-code.ts";
import { lexMarkdown } from "./lex-markdown.ts";
import { markdownLines } from "./markdown-words.ts";
import { createTheme } from "./theme.ts";

const lines = (text: string): string[] => markdownLines(text, 80, { theme: createTheme("none"), highlight: createPlainHighlight() });

describe("lexMarkdown", () => {
  it("survives any depth of quotes, lists, brackets and braces, and keeps the text", () => {
    for (const text of [
      ">".repeat(5_000),
      "- ".repeat(5_000),
      "1. ".repeat(4_000),
      "> - ".repeat(4_000),
      "[a".repeat(3_000),
      "**_".repeat(5_000),
    ])
      expect(lines(`${text} end`).join("\n")).toMatch(/end$/);
    expect(lines(`$$${"\\frac{".repeat(1_000)}x${"}".repeat(1_000)}$$`).join("")).toContain("x");
  });

  it("reads no emphasis in a paragraph of many marks, which would take quadratic time", () => {
    expect(lexMarkdown("**a** ".repeat(200))[0]).toMatchObject({
      tokens: expect.arrayContaining([expect.objectContaining({ type: "strong" })]),
    });
    expect(JSON.stringify(lexMarkdown("**a** ".repeat(201)))).not.toContain('"strong"');
    expect(JSON.stringify(lexMarkdown("~~a~~ ".repeat(201)))).not.toContain('"del"');
  });

  it("ends a bare address before Chinese punctuation", () => {
    expect(JSON.stringify(lexMarkdown("看 https://a.example/x。然后"))).toContain('"href":"https://a.example/x"');
  });
});
