import { afterAll, afterEach, beforeAll } from "vitest";
import type { ServerScript } from "keelson/testing";
import { openWorkspace, type Workspace } from "../keelson-process.ts";
import { type KeelsonTerminal, openTerminal, type TerminalOptions } from "../keelson-terminal.ts";
import { stableScreen } from "./stable-screen.ts";

/** The sequences of keys that have no letter. */
export const KEYS = {
  enter: "\r",
  shiftEnter: "\u001b[13;2u",
  altEnter: "\u001b\r",
  up: "\u001b[A",
  down: "\u001b[B",
  altUp: "\u001b[1;3A",
  escape: "\u001b",
  tab: "\t",
  shiftTab: "\u001b[Z",
  backspace: "\u007f",
  ctrlC: "\u0003",
  ctrlO: "\u000f",
  ctrlR: "\u0012",
  ctrlT: "\u0014",
  ctrlU: "\u0015",
  undo: "\u001f",
} as const;

/** Returns the keys that a terminal sends for a paste. */
export function pasteOf(text: string): string {
  return `\u001b[200~${text.replaceAll("\n", "\r")}\u001b[201~`;
}

/** Returns the source of an expression that matches a text as it is. */
export function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

export interface SharedTerminalOptions extends TerminalOptions {
  readonly script: ServerScript;
  /** Those of the project, by path. */
  readonly files?: { readonly [path: string]: string };
  readonly args?: readonly string[];
  /** Changes the workspace before the terminal opens. */
  readonly prepare?: (workspace: Workspace) => Promise<void>;
  /** Answers what is asked before the first message. */
  readonly begin?: (terminal: KeelsonTerminal) => Promise<void>;
}

/** A `keelson` that the tests of a group use one after another. Each begins and ends with an empty input. */
export interface SharedTerminal {
  readonly workspace: Workspace;
  readonly terminal: KeelsonTerminal;
  /** Types, waits until the rows up to the cursor match, and returns the screen from the last row that begins with `from`. */
  see(keys: string, pattern: RegExp, from?: string): Promise<string>;
  /** The same for all rows of the screen, those below the cursor included. */
  seeAll(keys: string, pattern: RegExp, from?: string): Promise<string>;
  /** Sends a message and waits for the end of its run. @returns the screen from the message on */
  send(message: string): Promise<string>;
  /** Empties the input. */
  clear(): Promise<void>;
}

/** Opens a terminal before the tests of the group in which it is called, and closes it after them. */
export function shareTerminal({ script, files = {}, args = [], prepare, begin, ...options }: SharedTerminalOptions): SharedTerminal {
  let opened: { readonly workspace: Workspace; readonly terminal: KeelsonTerminal } | undefined;
  const open = (): NonNullable<typeof opened> => {
    if (opened === undefined) throw new Error("the terminal is open during the tests of its group only");
    return opened;
  };

  beforeAll(async () => {
    const workspace = await openWorkspace(script, files);
    await prepare?.(workspace);
    opened = { workspace, terminal: openTerminal(workspace, args, options) };
    await begin?.(opened.terminal);
    await opened.terminal.until(/\n› ?$/);
  }, 120_000);
  // A test that fails leaves its text behind, which would be a part of what the next one types.
  afterEach(({ task }) => {
    if (task.result?.state === "fail") opened?.terminal.type(KEYS.ctrlC);
  });
  afterAll(async () => {
    await opened?.terminal[Symbol.asyncDispose]();
    await opened?.workspace[Symbol.asyncDispose]();
  }, 120_000);

  function screenFrom(from: string): string {
    const { workspace, terminal } = open();
    const screen = stableScreen(workspace, terminal.all());
    const start = `\n${screen}`.lastIndexOf(`\n${from}`);
    if (start < 0) throw new Error(`no row begins with ${JSON.stringify(from)}:\n${screen}`);
    return screen.slice(start);
  }

  return {
    get workspace() {
      return open().workspace;
    },
    get terminal() {
      return open().terminal;
    },
    async see(keys, pattern, from = "") {
      open().terminal.type(keys);
      await open().terminal.until(pattern);
      return screenFrom(from);
    },
    async seeAll(keys, pattern, from = "") {
      open().terminal.type(keys);
      await open().terminal.untilAll(pattern);
      return screenFrom(from);
    },
    async send(message) {
      open().terminal.type(`${message}${KEYS.enter}`);
      const start = `› ${message.slice(0, 20)}`;
      await open().terminal.until(new RegExp(`\n${literal(start)}[\\s\\S]*\n✔ complete[\\s\\S]*\n› $`));
      return screenFrom(start);
    },
    async clear() {
      open().terminal.type(KEYS.ctrlC);
      await open().terminal.until(/\n› $/);
    },
  };
}
