import { spawn } from "node:child_process";
import { performance } from "node:perf_hooks";

export interface CommandResult {
  readonly code: number;
  /** Standard output and standard error, in the order they came. */
  readonly output: string;
  readonly seconds: number;
}

/** Runs a program of the workspace to its end, gathering what it prints. It never rejects: a program that cannot start is a code of 127. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly inherit?: boolean } = {},
): Promise<CommandResult> {
  const started = performance.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? root,
      env: options.env ?? process.env,
      stdio: options.inherit === true ? "inherit" : ["ignore", "pipe", "pipe"],
    });
    let output = "";
    const gather = (chunk: Buffer): void => {
      output += chunk.toString("utf8");
    };
    child.stdout?.on("data", gather);
    child.stderr?.on("data", gather);
    const finish = (code: number): void => resolve({ code, output, seconds: (performance.now() - started) / 1000 });
    child.once("error", (error) => {
      output += `${command}: ${error.message}\n`;
      finish(127);
    });
    child.once("close", (code, signal) => {
      if (signal !== null) output += `${command}: ended by ${signal}\n`;
      finish(code ?? 1);
    });
  });
}

/** The top folder of the workspace. */
export const root: string = new URL("..", import.meta.url).pathname.replace(/\/$/, "");
