import type { Executor } from "@keelson/protocol";
import { printableLine } from "../text/printable.ts";
import type { Screen } from "../terminal/screen.ts";
import type { Style } from "../text/style.ts";
import { type OwnCommand, ownCommandText, runOwnCommand } from "./run-own-command.ts";

export interface OwnCommandsOptions {
  readonly screen: Pick<Screen, "block">;
  readonly style: Style;
  /** Asked for each command, because a conversation may change its session. */
  exec(): Executor;
}

/** The commands that a person runs with `!`. */
export interface OwnCommands {
  /** Runs a command and shows its output. Commands run one after the other. */
  run(command: string): Promise<void>;
  /** Ends the command that runs. @returns true if one ran */
  stop(): boolean;
  /** Ends the command that runs, and runs no other. Resolves when nothing of it is left. */
  close(): Promise<void>;
  /** Returns what the agent has not read yet of the commands that have ended, once. */
  takeResults(): readonly string[];
}

export function createOwnCommands({ screen, style, exec }: OwnCommandsOptions): OwnCommands {
  const results: string[] = [];
  let running: AbortController | undefined;
  let last: Promise<void> = Promise.resolve();
  let isClosed = false;

  async function runNow(command: string): Promise<void> {
    if (isClosed) return;
    const controller = new AbortController();
    running = controller;
    try {
      const ended = await runOwnCommand(command, {
        exec: exec(),
        signal: controller.signal,
        onOutput: (text) =>
          screen.block(
            text
              .replace(/\n$/, "")
              .split("\n")
              .map((line) => `  ${printableLine(line)}`),
          ),
      });
      results.push(ownCommandText(ended));
      screen.block([endLine(ended, style)]);
    } catch (error) {
      screen.block([style.red(`! the command did not run: ${printableLine(error instanceof Error ? error.message : String(error))}`)]);
    } finally {
      running = undefined;
    }
  }

  return {
    run(command) {
      last = last.then(() => runNow(command));
      return last;
    },
    stop() {
      running?.abort("interrupted");
      return running !== undefined;
    },
    async close() {
      isClosed = true;
      running?.abort("interrupted");
      await last;
    },
    takeResults: () => results.splice(0),
  };
}

function endLine({ exitCode, isStopped, output }: OwnCommand, style: Style): string {
  if (isStopped) return style.yellow("  stopped");
  if (exitCode === 0) return style.dim(output === "" ? "  (no output)" : "  done; the agent reads it with your next message");
  return style.yellow(`  ${exitCode === null ? "ended by a signal" : `exit code ${exitCode}`}; the agent reads it with your next message`);
}
