import { mkdir, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HEARD, type KeelsonTerminal, openTerminal } from "./keelson-terminal.ts";

// Every test drives a real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 180_000 });

const DEMO = fileURLToPath(new URL("../src/demo.ts", import.meta.url));
const SHOW_TIME = new URL("show-time.ts", import.meta.url).href;

const OPENED = /\n› \ndefault · /;
const QUESTION = /\? `edit_file` changes `src\/money\.js`/;
const MENU = /@src\/\n[\s\S]*money\.js/;
/** The run is over, and no activity is shown. */
const OVER = /✔ complete[^›]*\n\n?› \n/;
const UNDO_MENU = /› \/un\n[\s\S]*undo/;
const UNDONE = /restored src\/split\.js\n\n?› \n/;

let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "keelson-show-test-")));
  await mkdir(join(root, "tmp"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

function openShow({ columns = 80, pauses = "short", env = {} }: { columns?: number; pauses?: "held" | "short"; env?: object } = {}) {
  const environment = {
    PATH: process.env["PATH"] ?? "",
    HOME: root,
    TMPDIR: join(root, "tmp"),
    NODE_COMPILE_CACHE: join(tmpdir(), "keelson-test-compile-cache"),
    KEELSON_TEST_PAUSES: pauses,
    ...env,
  };
  return openTerminal({ project: root, environment }, [], { columns, rows: 50, entry: DEMO, preload: SHOW_TIME });
}

/** Returns the files that the demo left in the folder for temporary files. */
const remains = (): Promise<readonly string[]> => readdir(join(root, "tmp"));

/** The rows without what differs from run to run: the folder, times, tokens and cost, and the frame of the spinner. */
function stable(rows: readonly string[]): string {
  return rows
    .join("\n")
    .replaceAll(/^keelson · [\s\S]*?shared-tab$/gm, "keelson · …")
    .replaceAll(/^✔ complete · [\s\S]*? s$/gm, "✔ complete · …")
    .split("\n")
    .map((row) =>
      row
        .replaceAll(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "*")
        .replaceAll(/\(\d+(\.\d+)?ms\)/g, "(0ms)")
        .replaceAll(/duration_ms [\d.]+/g, "duration_ms 0")
        .replaceAll(/(?<=\S {2})(?:\d+ m )?\d+(?:\.\d+)? m?s(?:, |$)/g, "")
        .replaceAll(/, (?:\d+ m )?\d+(?:\.\d+)? m?s$/g, "")
        .replaceAll(/ (?:\d+ m )?\d+(?:\.\d+)? m?s\b/g, " 0 s")
        .replaceAll(/\$[\d.]+/g, "$0")
        .trimEnd(),
    )
    .join("\n");
}

async function skip(terminal: KeelsonTerminal, seen: RegExp): Promise<void> {
  await terminal.untilAll(seen);
  terminal.type(" ");
}

describe("npm start in a terminal", () => {
  it("shows a conversation that the person steps through and answers in", async () => {
    await using terminal = openShow({ pauses: "held" });
    await skip(terminal, OPENED);
    await terminal.untilAll(MENU);
    expect(stable(terminal.all())).toMatchSnapshot("the menu of files");
    terminal.type(" ");
    await terminal.untilAll(QUESTION);
    await terminal.until(HEARD);
    const asked = stable(terminal.all());
    expect(asked.slice(asked.indexOf("? `edit_file`"))).toMatchSnapshot("the question");
    terminal.type("y\r");
    // A person who answers is asked about the second edit as well.
    await terminal.untilAll(/\? `edit_file` changes `src\/split\.js`/);
    await terminal.until(HEARD);
    terminal.type("y\r");
    await terminal.untilAll(OVER);
    const over = stable(terminal.all());
    expect(over.slice(over.indexOf("## All 18"))).toMatchSnapshot("the end of the run");
    terminal.type(" ");
    await skip(terminal, UNDO_MENU);
    await skip(terminal, UNDONE);
    expect(await terminal.exited).toBe(0);
    expect(stable(terminal.transcript().split("\n"))).toMatchSnapshot("everything");
    expect(await remains()).toEqual([]);
  });

  it("answers and ends by itself if no key is pressed, within the width of a narrow terminal", async () => {
    await using terminal = openShow({ columns: 40 });
    expect(await terminal.exited).toBe(0);
    const transcript = terminal.transcript();
    for (const row of transcript.split("\n")) expect(row.length).toBeLessThanOrEqual(40);
    expect(transcript).toMatch(/edit_file: ✓ allow[\s\S]*permission mode: default →\saccept-edits/);
    expect(transcript).toMatch(/All 18 tests pass[\s\S]*› \/undo\n[\s\S]*restored src\/split\.js[\s\S]*› \/quit\n[\s\S]*what to try next/);
    expect(transcript).toContain("docs/coding-agent.md");
    // The second edit runs unasked in the mode that the demo chose.
    expect(transcript.match(/\? `edit_file`/g)).toHaveLength(1);
    expect(await remains()).toEqual([]);
  });

  it("leaves at Ctrl-C while a question is open, without files and with the modes that the terminal had", async () => {
    await using terminal = openShow({ pauses: "held" });
    await skip(terminal, OPENED);
    await skip(terminal, MENU);
    await terminal.untilAll(QUESTION);
    expect(terminal.modes()).toEqual({ bracketedPaste: true, focusReports: true });
    terminal.type("\u0003");
    expect(await terminal.exited).toBe(0);
    expect(terminal.modes()).toEqual({ bracketedPaste: false, focusReports: false });
    expect(terminal.transcript()).toMatch(/You left the demo\.[\s\S]*npm run -s keelson/);
    expect(await remains()).toEqual([]);
  });

  it("leaves at a Ctrl-C of the kitty protocol while a command runs", async () => {
    await using terminal = openShow({ pauses: "held" });
    await skip(terminal, OPENED);
    await skip(terminal, MENU);
    await terminal.untilAll(/\S bash node --test/);
    terminal.type("\u001b[99;5u");
    expect(await terminal.exited).toBe(0);
    expect(terminal.transcript()).toContain("You left the demo.");
    expect(await remains()).toEqual([]);
  });

  it("leaves at a Ctrl-C before the conversation is open", async () => {
    await using terminal = openShow({ pauses: "held" });
    await terminal.untilAll(/keelson in a minute/);
    terminal.type("\u0003");
    expect(await terminal.exited).toBe(0);
    expect(terminal.transcript()).toContain("You left the demo.");
    expect(await remains()).toEqual([]);
  });

  it("leaves no files if the window of the terminal is closed", async () => {
    await using terminal = openShow({ pauses: "held" });
    await terminal.untilAll(OPENED);
    terminal.hangUp();
    await terminal.exited;
    expect(await remains()).toEqual([]);
  });

  it("stops the work if the person declines the edit, and undoes nothing", async () => {
    await using terminal = openShow({ pauses: "held" });
    await skip(terminal, OPENED);
    await skip(terminal, MENU);
    await terminal.untilAll(QUESTION);
    await terminal.until(HEARD);
    terminal.type("n\r");
    await skip(terminal, OVER);
    expect(await terminal.exited).toBe(0);
    expect(terminal.transcript()).toMatch(/The edit was not made: A person declined this call\./);
    expect(terminal.transcript()).not.toContain("/undo\n");
    expect(terminal.transcript()).toContain("That was keelson.");
    expect(await remains()).toEqual([]);
  });

  it("prints lines where nobody watches, as in CI", async () => {
    await using terminal = openShow({ env: { CI: "true" } });
    expect(await terminal.exited).toBe(0);
    expect(terminal.transcript()).toMatch(/── the project's tests[\s\S]*✔ 18 of 18 pass[\s\S]*── what to try next/);
  });
});
