import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { openWorkspace } from "./keelson-process.ts";
import { openTerminal } from "./keelson-terminal.ts";

// Every test drives a real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 180_000 });

const DOWN = "\u001b[B";
const SHIFT_TAB = "\u001b[Z";
const USAGE = { inputTokens: 1_000, outputTokens: 50 };

it("begins, copies and resumes sessions in one process, with their last messages and the status line of each", async () => {
  await using workspace = await openWorkspace([
    { text: "Mended.", usage: USAGE },
    { text: "Copied.", usage: USAGE },
    { text: "Fresh.", usage: USAGE },
    { text: "Back again.", usage: USAGE },
  ]);
  execFileSync("git", ["init", "-q", "-b", "trunk"], { cwd: workspace.project });
  await using terminal = openTerminal(workspace, [], { columns: 100 });
  await terminal.untilAll(/\n› \n.*default · .*\$0 · no sandbox · trunk$/);

  terminal.type("mend the build\r");
  await terminal.until(/Mended\.[\s\S]*✔ complete[\s\S]*\n› $/);
  await terminal.untilAll(/\n› \n.*\$0\.0025 · .*trunk$/);

  terminal.type("/fork\r");
  await terminal.until(/the previous session is kept; continue it with: keelson -r \S+\n› $/);
  terminal.type("and in the copy\r");
  await terminal.until(/Copied\.[\s\S]*✔ complete[\s\S]*\n› $/);
  expect(JSON.stringify(workspace.server.requests[1]?.body)).toMatch(/mend the build[\s\S]*Mended\.[\s\S]*and in the copy/);

  terminal.type("/clear\r");
  await terminal.until(/a new session[\s\S]*the previous session is kept[\s\S]*\n› $/);
  await terminal.untilAll(/\n› \n.*default · .*\$0 · /);
  terminal.type("something else\r");
  await terminal.until(/Fresh\.[\s\S]*✔ complete[\s\S]*\n› $/);
  expect(JSON.stringify(workspace.server.requests[2]?.body)).not.toContain("mend the build");

  // The newest is open, the copy comes next, the first one last.
  terminal.type("/resume\r");
  await terminal.untilAll(/session › \n❯ ● something else\n[\s\S]*\(copy\) and in the copy\n[\s\S]* mend the build\n[\s\S]*trunk/);
  terminal.type(`${DOWN}${DOWN}\r`);
  await terminal.until(/· \/help says what you can do\n[\s\S]*› mend the build\n[\s\S]*Mended\.[\s\S]*\n› $/);
  terminal.type("still there?\r");
  await terminal.until(/Back again\.[\s\S]*✔ complete[\s\S]*\n› $/);
  const last = JSON.stringify(workspace.server.requests[3]?.body);
  expect(last).toMatch(/mend the build[\s\S]*Mended\.[\s\S]*still there\?/);
  expect(last).not.toMatch(/and in the copy|something else/);
  terminal.type("/quit\r");
  expect(await terminal.exited).toBe(0);
});

it("goes through the modes with Shift-Tab, and asks twice before everything runs unasked", async () => {
  await using workspace = await openWorkspace([]);
  await using terminal = openTerminal(workspace, [], { columns: 80 });
  await terminal.untilAll(/\n› \n.*default · /);
  for (const mode of ["accept-edits", "plan-only", "default"]) {
    terminal.type(SHIFT_TAB);
    await terminal.untilAll(new RegExp(`\\n› \\n.*${mode} · `));
  }
  terminal.type("/mode\r");
  await terminal.untilAll(/mode › \n❯ default[\s\S]*Enter picks/);
  terminal.type("byp\r");
  await terminal.untilAll(/run everything unasked\? › \n❯ no/);
  terminal.type("\r");
  await terminal.untilAll(/\n› \n.*default · /);
  terminal.type("/mode\r");
  await terminal.untilAll(/mode › \n/);
  terminal.type("byp\r");
  await terminal.untilAll(/run everything unasked\? › \n❯ no/);
  terminal.type(`${DOWN}\r`);
  await terminal.untilAll(/mode: bypass-all[\s\S]*\n› \n.*bypass-all · /);
  terminal.type("/quit\r");
  expect(await terminal.exited).toBe(0);
});

it("keeps what is typed into a list out of the input, and the draft for after it", async () => {
  await using workspace = await openWorkspace([]);
  await using terminal = openTerminal(workspace, [], { columns: 80 });
  await terminal.until(/\n› $/);
  terminal.type("/effort\r");
  await terminal.untilAll(/effort › \n/);
  terminal.type("nothing\u001b");
  await terminal.untilAll(/\n› \n.*default · /);
  terminal.type("/memory\r");
  await terminal.until(/There are no files of instructions[\s\S]*\n› $/);
  await writeFile(join(workspace.project, "AGENTS.md"), "Use tabs.\n");
  terminal.type("/memory\r");
  await terminal.until(/1 {2}– AGENTS\.md {2}not used: not trusted[\s\S]*\n› $/);
  for (const [command, words] of [
    ["/skills", "There are no skills"],
    ["/hooks", "There are no hooks"],
    ["/mcp", "No servers are configured"],
    ["/tasks", "nothing runs in the background"],
  ] as const) {
    terminal.type(`${command}\r`);
    await terminal.until(new RegExp(`${words}[\\s\\S]*\\n› $`));
  }
  terminal.type("/quit\r");
  expect(await terminal.exited).toBe(0);
});

it("has a session chosen from a list with -r, and from numbers for a screen reader", async () => {
  await using workspace = await openWorkspace([{ text: "One." }, { text: "Two." }]);
  await workspace.keelson("-p", "the first task");
  await workspace.keelson("-p", "the second task");
  await using terminal = openTerminal(workspace, ["-r"], { columns: 60 });
  await terminal.untilAll(/session › \n❯ the second task\n[\s\S]*the first task/);
  terminal.type("first\r");
  await terminal.until(/› the first task\n[\s\S]*One\.[\s\S]*\n› $/);
  terminal.type("/quit\r");
  expect(await terminal.exited).toBe(0);
  await using spoken = openTerminal(workspace, ["-r", "--screen-reader"], { columns: 60 });
  await spoken.until(/1 {2}\S+[\s\S]*continue \[1-2\], or leave with Enter ›$/);
  spoken.type("\r");
  expect(await spoken.exited).toBe(0);
});

it("offers the sessions of every folder where there is none of this one", async () => {
  await using workspace = await openWorkspace([{ text: "One." }]);
  await workspace.keelson("-p", "the first task");
  await using terminal = openTerminal(workspace, ["-r"], { columns: 100, cwd: tmpdir() });
  await terminal.untilAll(/there are no sessions of this folder; Tab shows those of every folder/);
  terminal.type("\t");
  await terminal.untilAll(/session of any folder › \n❯ the first task\n/);
  terminal.type("\u001b");
  expect(await terminal.exited).toBe(0);
});
