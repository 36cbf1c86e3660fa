import { Buffer } from "node:buffer";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { KEYS, pasteOf, shareTerminal } from "./shared-terminal.ts";
import { USAGE } from "./usage.ts";
import { WIDTHS } from "./widths.ts";

// Every test drives a real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

/** An image of one pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe.each(WIDTHS)("the editor at %d columns", (columns) => {
  const shared = shareTerminal({
    ...{ columns, rows: 30, args: ["--trust"] },
    script: [
      { text: "Pasted.", usage: USAGE },
      { text: "Seen.", usage: USAGE },
      { text: "Reviewed.", usage: USAGE },
    ],
    files: {
      "src/sum.js": "a\n",
      "src/summary/notes.md": "b\n",
      ".claude/commands/review.md": "---\ndescription: Review a file\nargument-hint: <file>\n---\nReview $ARGUMENTS now.\n",
    },
    prepare: ({ project }) => writeFile(join(project, "pixel.png"), Buffer.from(PIXEL, "base64")),
  });
  const { see, seeAll, send, clear } = shared;
  const lastRequest = (): string => JSON.stringify(shared.workspace.server.requests.at(-1)?.body["messages"]);

  it("takes new lines from Shift-Enter, Alt-Enter and a backslash, and wraps what is longer than a row", async () => {
    const typed = `first${KEYS.shiftEnter}second${KEYS.altEnter}third\\${KEYS.enter}fourth, which is long enough to be wrapped in a narrow terminal`;
    expect(await see(typed, /narrow terminal$/, "› first")).toMatchSnapshot();
    await clear();
  });

  it("deletes a family and a flag as one letter each, and brings both back with undo", async () => {
    await see("家族 👨‍👩‍👧‍👦🇯🇵", /家族 \S+$/);
    expect(await see(KEYS.backspace.repeat(2), /› 家族 ?$/, "› 家族")).toMatchSnapshot("deleted");
    expect(await see(KEYS.undo.repeat(2), /家族 \S+$/, "› 家族")).toMatchSnapshot("undone");
    await clear();
  });

  it("folds a long paste into a marker, and sends it whole", async () => {
    const text = Array.from({ length: 12 }, (_, index) => `line ${index}`).join("\n");
    expect(await see(`look: ${pasteOf(text)} please`, /please$/, "› look")).toMatchSnapshot();
    await see(KEYS.enter, /Pasted\.[\s\S]*complete[\s\S]*\n› $/);
    expect(lastRequest()).toContain(JSON.stringify(`look: ${text} please`).slice(1, -1));
  });

  it("offers files behind @, also by the letters of their name, and completes the marked one with Tab", async () => {
    expect(await seeAll("see @sum", /notes\.md[\s\S]*\n.*default ·/, "› see")).toMatchSnapshot("offered");
    expect(await see(KEYS.tab, /@src\/sum\.js ?$/, "› see")).toMatchSnapshot("completed");
    await clear();
  });

  it("offers commands behind /, and finds them by scattered letters", async () => {
    expect(await seeAll("/", /\/clear[\s\S]*\n.*default ·/, "› /")).toMatchSnapshot("all");
    expect(await seeAll("cmp", /› \/cmp\n.*compact.*\n.*default ·/, "› /")).toMatchSnapshot("found");
    await seeAll(KEYS.escape, /› \/cmp\n.*default ·/);
    await clear();
  });

  it("offers the commands of Markdown files with the hint of their arguments, and sends their text", async () => {
    expect(await seeAll("/rev", /› \/rev\n.*\/review.*\n[\s\S]*\n.*default ·/, "› /")).toMatchSnapshot("offered");
    await clear();
    await send("/review src/sum.js");
    expect(lastRequest()).toContain("Review src/sum.js now.");
  });

  it("runs a command behind ! and shows its output", async () => {
    await see("!echo first; seq 8", /seq 8$/);
    expect(await see(KEYS.enter, /next message\n› $/, "$ echo")).toMatchSnapshot();
  });

  it("attaches an image that a message names by its path", async () => {
    expect(await send("what is on @pixel.png ?")).toMatchSnapshot();
    expect(lastRequest()).toContain(`"data":"${PIXEL}"`);
  });

  it("goes back through earlier messages and forth to the draft with Up and Down", async () => {
    await see("a draft", /a draft$/);
    await see(KEYS.up, /› what is on @pixel\.png \?$/);
    await see(KEYS.up, /\$ !echo first; seq 8$/);
    await see(KEYS.down.repeat(2), /› a draft$/);
    await clear();
  });

  it("searches earlier messages with Ctrl-R, and gives the match to be edited with Tab", async () => {
    expect(await seeAll(KEYS.ctrlR, /search › \n[\s\S]*line 0.*\n.*default ·/, "search")).toMatchSnapshot("all");
    expect(await seeAll("echo", /search › echo\n.*!echo.*\n.*default ·/, "search")).toMatchSnapshot("found");
    await see(KEYS.tab, /\$ !echo first; seq 8$/);
    await clear();
  });
});
