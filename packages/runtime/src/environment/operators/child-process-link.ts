import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createOutputWindow } from "../execution/output-window.ts";
import { endProcessGroup, tieToThisProcess } from "../execution/process-group.ts";
import { endStrays } from "../execution/stray-processes.ts";
import { endedEarly, LAST_WORDS, notStarted } from "./operator-ending.ts";
import type { OperatorLink } from "./operator-link.ts";
import type { FromOperator } from "./operator-messages.ts";

export interface ChildProcessOptions {
  /** Of Node, the module among them. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly killGraceMs: number;
}

/** Starts Node as a child of this process, in a process group of its own. Rejects with EnvironmentError `provision-failed`. */
export async function startChildProcess({ args, cwd, env, killGraceMs }: ChildProcessOptions): Promise<OperatorLink> {
  // A variable that whatever it starts inherits.
  const mark = `KEELSON_OPERATOR_${randomUUID().replaceAll("-", "")}`;
  const child = spawn(process.execPath, [...process.execArgv, ...args], {
    cwd,
    env: { ...env, [mark]: "1" },
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  try {
    await once(child, "spawn");
  } catch (error) {
    throw notStarted(args, error);
  }
  return linkTo(child, mark, killGraceMs);
}

function linkTo(child: ChildProcess, mark: string, killGraceMs: number): OperatorLink {
  const group = child.pid as number;
  const untie = tieToThisProcess(group, mark);
  const printed = createOutputWindow(0, LAST_WORDS);
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (bytes: Uint8Array) => printed.push(bytes));
  let hear: (message: FromOperator) => void = () => {};
  child.on("message", (message: FromOperator) => hear(message));
  const ended = once(child, "close").then(([code, signal]) => {
    throw endedEarly(code as number | null, signal as string | null, printed.text());
  });
  ended.catch(() => {});
  return {
    ended,
    send(message) {
      if (child.connected) child.send(message, () => {});
    },
    hear(listener) {
      hear = listener;
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect();
      await endProcessGroup(group, killGraceMs);
      await endStrays(mark, killGraceMs);
      untie();
    },
  };
}
