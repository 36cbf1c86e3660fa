import { describe, expect, it, vi } from "vitest";
import { openTerminal } from "../keelson-terminal.ts";
import { KEYS, shareTerminal } from "./shared-terminal.ts";
import { stableScreen } from "./stable-screen.ts";
import { USAGE } from "./usage.ts";
import { WIDTHS } from "./widths.ts";

// Every test drives a real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

describe.each(WIDTHS)("the lists at %d columns", (columns) => {
  const shared = shareTerminal({
    ...{ columns, rows: 18 },
    script: ({ index }) => ({ text: `Response ${index}.`, usage: USAGE }),
  });
  const { see, seeAll, send } = shared;

  it("offer levels of effort, and the status line shows the level that was chosen", async () => {
    expect(await seeAll(`/effort${KEYS.enter}`, /effort › \n[\s\S]*❯[\s\S]*Esc/, "effort ›")).toMatchSnapshot();
    await seeAll(`low${KEYS.enter}`, /\n› \n.*low/);
    // The model that is chosen next takes none.
    await see(`/effort default${KEYS.enter}`, /› \/effort default\n[^›]+\n› $/);
  });

  it("offer models with their window and price, and find one by parts of its name", async () => {
    expect(await seeAll(`/model${KEYS.enter}`, /model › \n[\s\S]*❯[\s\S]*Esc/, "model ›")).toMatch(
      /^model › \n❯ ● anthropic\/claude-sonnet-5\b[^\n]*\n( {2}anthropic\/[^\n]*\n)+ {2}1\/\d+ · /,
    );
    expect(await seeAll("haiku 4 5", /model › haiku 4 5\n❯.*haiku-4-5/, "model ›")).toMatchSnapshot();
    await see(KEYS.enter, /model: \S*haiku-4-5\S*\n› $/);
  });

  it("offer modes with what runs unasked in each", async () => {
    expect(await seeAll(`/mode${KEYS.enter}`, /mode › \n[\s\S]*❯[\s\S]*Esc/, "mode ›")).toMatchSnapshot();
    await see(KEYS.escape, /\n› $/);
  });

  it("offer sessions with first words, age, turns and cost, and search all of these", async () => {
    for (const task of ["mend the build, which fails on the machine of a colleague since yesterday", "修复构建"]) {
      await send(task);
      await see(`/clear${KEYS.enter}`, /› \/clear\n[^›]*a new session[^›]*\n› $/);
    }
    expect(await seeAll(`/sessions${KEYS.enter}`, /session › \n[\s\S]*❯[\s\S]*Esc/, "session ›")).toMatchSnapshot("all");
    expect(await seeAll("colleague", /session › colleague\n❯ mend the build/, "session ›")).toMatchSnapshot("found");
    await see(KEYS.escape, /\n› $/);
  });

  it("offer the same sessions when the program begins with -r", async () => {
    const { workspace } = shared;
    await using terminal = openTerminal(workspace, ["-r"], { columns, rows: 18 });
    await terminal.untilAll(/session › \n[\s\S]*❯[\s\S]*Esc/);
    expect(stableScreen(workspace, terminal.all())).toMatchSnapshot();
    terminal.type(KEYS.escape);
    expect(await terminal.exited).toBe(0);
  });
});
