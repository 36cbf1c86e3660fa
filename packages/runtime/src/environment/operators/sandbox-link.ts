import { createOutputWindow } from "../execution/output-window.ts";
import { LINK_FD, type SandboxRun } from "../sandbox/run-in-sandbox.ts";
import { LINK_VARIABLE } from "./link-to-starter.ts";
import { messageLines } from "./message-lines.ts";
import { endedEarly, heldTooMuch, LAST_WORDS } from "./operator-ending.ts";
import type { OperatorLink } from "./operator-link.ts";
import type { FromOperator } from "./operator-messages.ts";

export interface SandboxedProcessOptions {
  /** Of Node, the module among them. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** What it imports, where the sandbox would hide that. */
  readonly code: readonly string[];
}

/** Starts Node in a sandbox, with one descriptor more that the messages go over: what it prints is its own. */
export function startInSandbox(run: SandboxRun, { args, cwd, env, code }: SandboxedProcessOptions): OperatorLink {
  const ending = new AbortController();
  const printed = createOutputWindow(0, LAST_WORDS);
  let hear: (message: FromOperator) => void = () => {};
  let send: OperatorLink["send"] = () => {};
  let isOutOfMemory = false;
  const done = run(
    {
      program: process.execPath,
      args: [...process.execArgv, ...args],
      cwd,
      env: { ...env, [LINK_VARIABLE]: String(LINK_FD) },
      signal: ending.signal,
      onOutput: (_stream, text) => printed.push(Buffer.from(text)),
    },
    {
      shown: code,
      onLink(link) {
        send = messageLines(link, { onMessage: (message) => hear(message as FromOperator) });
      },
      onOutOfMemory() {
        isOutOfMemory = true;
      },
    },
  );
  const ended = done.then(({ exitCode, signal }) => {
    throw isOutOfMemory ? heldTooMuch() : endedEarly(exitCode, signal, printed.text());
  });
  ended.catch(() => {});
  return {
    ended,
    send: (message) => send(message),
    hear(listener) {
      hear = listener;
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      // Why it ended was told by `ended`, to whoever still waited.
      await done.catch(() => {});
    },
  };
}
