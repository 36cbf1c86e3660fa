import type { Command } from "commander";
import type { CommandLine } from "./command-line.ts";
import { cwdOf } from "./cwd-of.ts";
import type { ProgramOptions } from "./program-options.ts";

const SANDBOX_EXAMPLES = `
Examples:
  $ keelson sandbox -- npm test
  $ keelson sandbox --policy policy.json -- sh -c 'npm ci && npm test'

It ends with the exit code of the command; where no sandbox can be made, with 1 and the reason, and nothing is run.`;

/** `keelson sandbox`. */
export function addSandbox(program: Command, accept: (command: CommandLine) => void): void {
  program
    .command("sandbox")
    .description("run a command that can write to this folder alone, and has no network unless a policy gives it one")
    .argument("<command...>", "a program and its arguments, after --")
    .option("--policy <file>", "JSON that says what it may touch (docs/guides/sandbox.md)")
    .addHelpText("after", SANDBOX_EXAMPLES)
    .action((command: string[], options: { policy?: string }) => {
      // The program has an option of that name, which takes it wherever it stands before the command.
      const policy = options.policy ?? program.opts<ProgramOptions>().policy;
      accept({ type: "sandbox", command, ...(policy !== undefined && { policy }), ...cwdOf(program) });
    });
}
