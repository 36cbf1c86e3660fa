import { expect, it, vi } from "vitest";
import { openWorkspace } from "../keelson-process.ts";
import { openTerminal } from "../keelson-terminal.ts";
import { PAUSE } from "../pause-key.ts";
import { stableScreen } from "./stable-screen.ts";
import { USAGE } from "./usage.ts";

// Every test drives a real process in a real pseudo-terminal, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

// oxlint-disable-next-line no-control-regex -- control characters are what must not be written
const CONTROL = /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f]/;
/** Sequences that move the cursor, erase, or change what keys send. */
// oxlint-disable-next-line no-control-regex -- sequences begin with one
const MOVING = /\u001b\[(?:[\d;]*[A-HJKSTfsu]|[?>])/;
/** A carriage return that does not end a line goes back to its beginning. */
const GOING_BACK = /\r(?!\r*\n)/;

it.each([
  ["with TERM=dumb", "plain text", [], { NO_COLOR: "", TERM: "dumb" }, CONTROL],
  ["for a screen reader", "lines", ["--screen-reader"], {}, MOVING],
] as const)("a terminal %s gets nothing but %s, which are only appended", async (_name, _what, args, env, forbidden) => {
  await using workspace = await openWorkspace(
    [
      { text: "# A heading\n\n- one\n- two with `code`\n\nThe end.\n", usage: USAGE },
      { toolCalls: [{ name: "edit_file", input: { path: "sum.js", old_string: "a - b", new_string: "a + b" } }], usage: USAGE },
      { text: "Mended.", usage: USAGE },
    ],
    { "sum.js": "export const sum = (a, b) => a - b;\n" },
  );
  await using terminal = openTerminal(workspace, args, { rows: 60, env, timeByHand: true });
  await terminal.until(/\/help says what you can do/);
  terminal.type("/mode\r");
  await terminal.until(/\/mode <mode> changes it/);
  terminal.type("show me\r");
  await terminal.until(/The end\.[\s\S]*complete/);
  terminal.type("mend it\r");
  await terminal.until(/\[y\]es/);
  // The pause before an answer passes with a line that is kept for the next message.
  terminal.type(`${PAUSE}\r`);
  await terminal.until(/kept for your next message/);
  terminal.type("y\r");
  await terminal.until(/Mended\.[\s\S]*complete/);
  // End of file, as Ctrl-D sends it in an empty line.
  terminal.type("\u0004");
  expect(await terminal.exited).toBe(0);
  expect(terminal.written()).not.toMatch(forbidden);
  expect(terminal.written()).not.toMatch(GOING_BACK);
  const rows = terminal
    .all()
    .filter((row) => !/\[99~|^(?:kept for your .*|waiting for an answer|thinking|writing|edit_file .*)$/.test(row));
  expect(stableScreen(workspace, rows.slice(rows.indexOf("/mode")))).toMatchSnapshot();
});
