import { stripVTControlCharacters } from "node:util";
import { type Usd, usd } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { displayWidth } from "../text/display-width.ts";
import { createStyle } from "../text/style.ts";
import { createStatusLine, type StatusFacts } from "./status-line.ts";

const FACTS: StatusFacts = {
  model: "anthropic/claude-sonnet-5",
  effort: "high",
  context: 0.12,
  compactAt: 0.4,
  cost: usd("1.5"),
  mode: "accept-edits",
  inSandbox: true,
  jobs: 2,
  branch: "fix/会議",
};

function lineAt(columns: number, facts: StatusFacts = FACTS, colors = false): string {
  const { lines } = createStatusLine({ style: createStyle(colors), facts: () => facts }).rows({ columns, rows: 1 });
  expect(lines).toHaveLength(1);
  return lines[0] ?? "";
}

describe("createStatusLine", () => {
  it("shows all facts at 120 columns and fewer, whole ones, at 80 and 40", () => {
    expect(lineAt(120)).toBe("accept-edits · anthropic/claude-sonnet-5 · effort high · context 12% · $1.50 · 2 jobs · sandbox · fix/会議");
    expect(lineAt(80)).toBe("accept-edits · claude-sonnet-5 · high · context 12% · $1.50 · 2 jobs · fix/会議");
    expect(lineAt(40)).toBe("accept-edits · claude-sonnet-5 · 12%");
  });

  it("fits at every width, without a cut word", () => {
    for (let columns = 1; columns <= 130; columns += 1) {
      const line = lineAt(columns);
      expect(displayWidth(line)).toBeLessThanOrEqual(columns);
      expect(line).not.toContain("…");
    }
  });

  it("says nothing of facts that there are none of", () => {
    const line = lineAt(120, { model: "local/one", compactAt: 0.4, cost: null as Usd | null, mode: "default", inSandbox: false, jobs: 0 });
    expect(line).toBe("default · local/one · cost unknown · no sandbox");
  });

  it("shows the context in a warning colour near the compaction, and in another beyond it", () => {
    const style = createStyle(true);
    expect(lineAt(120, { ...FACTS, context: 0.1 }, true)).toContain(style.dim("context 10%"));
    expect(lineAt(120, { ...FACTS, context: 0.33 }, true)).toContain(style.yellow("context 33%"));
    expect(lineAt(120, { ...FACTS, context: 0.41 }, true)).toContain(style.red("context 41%"));
  });

  it("lets no control character of a model's name or a branch reach the terminal", () => {
    const line = lineAt(120, { ...FACTS, model: "a/b\u001b[2J", branch: "x\u001b]0;y\u0007" });
    expect(stripVTControlCharacters(line)).toBe(line);
  });
});
