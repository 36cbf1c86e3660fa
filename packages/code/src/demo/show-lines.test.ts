import { describe, expect, it } from "vitest";
import { createStyle } from "../text/style.ts";
import { closingLines, openingLines } from "./show-lines.ts";

const style = createStyle(false);

describe("the lines around a show", () => {
  it.each([39, 79, 199])("take no more than %d columns", (columns) => {
    const lines = [
      ...openingLines({ style, columns, reason: "no API key found" }),
      ...closingLines({ style, columns, command: "npm run -s keelson", summary: "That was keelson.", scripted: true }),
    ];
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
  });

  it("say before it that a script plays the model, and why, and who types", () => {
    const text = openingLines({ style, columns: 79, reason: "no API key found" }).join(" ");
    expect(text).toMatch(/A script plays the model \(no API key found\), so tokens and costs are estimates\./);
    expect(text).toMatch(/The demo types for you/);
  });

  it("name after it the program, keys to try and the guide, and a key only if a script played the model", () => {
    const closing = (scripted: boolean): string =>
      closingLines({ style, columns: 79, command: "npm run -s keelson", summary: "Done.", scripted }).join("\n");
    for (const words of ["Done.", "\n  npm run -s keelson\n", "/help", "@file", "Shift-Tab", "Ctrl-R", "docs/coding-agent.md"])
      expect(closing(false)).toContain(words);
    expect(closing(true)).toContain("ANTHROPIC_API_KEY");
    expect(closing(false)).not.toContain("API_KEY");
  });
});
