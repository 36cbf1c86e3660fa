import { readFile, realpath } from "node:fs/promises";
import { constants } from "node:os";
import { createSandboxExecutor, type NetworkDecision, type SandboxPolicy } from "keelson/environment";
import { readPolicy as readPolicyFile } from "keelson/security";
import type { CommandHost } from "../core/command-host.ts";
import { givenPath } from "../core/given-path.ts";
import { readStandardInput } from "../core/read-standard-input.ts";
import type { SandboxCommand } from "../options/command-line.ts";
import { UsageError } from "../options/usage-error.ts";
import { printable } from "../text/printable.ts";

const SHELL_SIGNAL_BASE = 128;

/** Runs a command under a policy; without one it may write to the folder and has no network. @returns the exit code of the command */
export async function sandbox({ command, policy: path, cwd }: SandboxCommand, host: CommandHost): Promise<number> {
  const { stdin, stdout, stderr, environment, signals } = host;
  const workspace = await realpath(givenPath(host.cwd, cwd ?? ".", host.environment));
  const policy = path === undefined ? {} : await readPolicy(givenPath(host.cwd, path, host.environment));
  const told = new Set<string>();
  const executor = createSandboxExecutor(policy, {
    workspace,
    env: environment,
    onDecision({ host: name, port, refused }: NetworkDecision) {
      const line = `keelson: no connection to ${printable(name)}:${port}: ${printable(refused ?? "")}\n`;
      if (refused === undefined || told.has(line)) return;
      told.add(line);
      stderr.write(line);
    },
  });
  const [program = "", ...args] = command;
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  signals.on("SIGINT", onSignal);
  signals.on("SIGTERM", onSignal);
  try {
    const given =
      stdin.isTTY === true
        ? undefined
        : await readStandardInput(stdin, {
            silent: "give-up",
            onWaiting: () => void stderr.write("keelson: waiting for the end of standard input\n"),
          });
    const { exitCode, signal } = await executor.execute({
      program,
      args,
      signal: stop.signal,
      ...(given !== undefined && { stdin: given }),
      // All of it goes on at once; what the executor would keep is not needed.
      maxOutputBytes: 0,
      onOutput: (stream, text) => void (stream === "stdout" ? stdout : stderr).write(text),
    });
    return exitCode ?? SHELL_SIGNAL_BASE + (signal === null ? 0 : (constants.signals[signal as NodeJS.Signals] ?? 0));
  } catch (error) {
    if (stop.signal.aborted) return SHELL_SIGNAL_BASE + constants.signals.SIGINT;
    throw error;
  } finally {
    signals.off("SIGINT", onSignal);
    signals.off("SIGTERM", onSignal);
  }
}

async function readPolicy(path: string): Promise<SandboxPolicy> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new UsageError(`the policy ${path} can't be read: ${messageOf(error)}`, "Give --policy the path of a JSON file.");
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `the policy ${path} is no JSON: ${messageOf(error)}`,
      'The smallest policy is {}; {"network": {"enabled": true}} adds the network.',
    );
  }
  // It may hold rules for tools, too, which are none of a command's business.
  return readPolicyFile(value, path).sandbox;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
