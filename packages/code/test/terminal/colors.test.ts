import { describe, expect, it, vi } from "vitest";
import { HEARD } from "../keelson-terminal.ts";
import { KEYS, shareTerminal } from "./shared-terminal.ts";
import { USAGE } from "./usage.ts";

// Every test drives a real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

/** Numbers of the palette of a terminal. */
const [RED, GREEN, YELLOW, MAGENTA] = [1, 2, 3, 5];

describe("a terminal with colours", () => {
  const shared = shareTerminal({
    ...{ columns: 80, rows: 40, env: { NO_COLOR: "" } },
    script: [
      { text: "# A heading\n\nSome **bold** words.\n\n```ts\nconst one = 1; // the first\n```\n", usage: USAGE },
      { toolCalls: [{ name: "edit_file", input: { path: "sum.js", old_string: "a - total;", new_string: "a + total;" } }], usage: USAGE },
      { text: "Mended.", usage: USAGE },
    ],
    files: { "sum.js": "export const sum = (a, total) => a - total;\n" },
  });
  const { see } = shared;
  /** The style that all letters of a text have. */
  const styleOf = (text: string): object => {
    const [{ letter: _first, ...first } = { letter: "" }, ...others] = shared.terminal.styles(text);
    for (const { letter: _letter, ...style } of others) expect(style).toEqual(first);
    return first;
  };

  it("shows emphasis in place of the marks of Markdown", async () => {
    await see(`show me${KEYS.enter}`, /the first[\s\S]*complete[\s\S]*\n› $/);
    expect(styleOf("A heading")).toMatchObject({ isBold: true, isUnderlined: true });
    expect(styleOf("bold")).toMatchObject({ isBold: true });
    expect(styleOf("words")).toMatchObject({ isBold: false, color: -1 });
    expect(shared.terminal.transcript()).not.toMatch(/\*\*bold|# A heading/);
  });

  it("highlights code", () => {
    expect(styleOf("const")).toMatchObject({ color: MAGENTA });
    expect(styleOf("// the first")).toMatchObject({ isDim: true });
    expect(styleOf("one =")).toMatchObject({ color: -1 });
  });

  it("shows a status line that is dim, with what is risky in yellow", () => {
    expect(styleOf("anthropic/claude-sonnet-5")).toMatchObject({ isDim: true, color: -1 });
    expect(styleOf("no sandbox")).toMatchObject({ isDim: false, color: YELLOW });
  });

  it("marks the words that a change changes", async () => {
    await see(`mend it${KEYS.enter}`, HEARD);
    expect(styleOf("- a ")).toMatchObject({ color: RED, isInverse: false });
    expect(styleOf("+ a ")).toMatchObject({ color: GREEN, isInverse: false });
    const [sign] = shared.terminal.styles("+ total;");
    expect(sign).toMatchObject({ letter: "+", color: GREEN, isInverse: true });
    const [before] = shared.terminal.styles("- total;");
    expect(before).toMatchObject({ letter: "-", color: RED, isInverse: true });
    await see(`y${KEYS.enter}`, /Mended\.[\s\S]*complete[\s\S]*\n› $/);
  });
});
