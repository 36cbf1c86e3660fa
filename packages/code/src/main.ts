import { KeelsonError } from "@keelson/protocol";
import type { CommandHost } from "./core/command-host.ts";
import { parseCommandLine } from "./options/parse-command-line.ts";
import { UsageError } from "./options/usage-error.ts";
import { printable } from "./text/printable.ts";

const WRONG_USAGE = 2;
const FAILED = 1;

/** The whole command: reads the arguments, does it, explains what went wrong. @returns the exit code */
export async function main(argv: readonly string[], host: CommandHost): Promise<number> {
  const complain = (text: string): void => void host.stderr.write(`keelson: ${printable(text)}\n`);
  try {
    return await dispatch(argv, host);
  } catch (error) {
    if (error instanceof UsageError) {
      complain(`${error.message}\n${error.hint}`);
      return WRONG_USAGE;
    }
    if (isExpected(error)) complain(error.message);
    else complain(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return FAILED;
  }
}

/** What a command needs is loaded when it runs: `keelson --help` should not wait for a database. */
async function dispatch(argv: readonly string[], host: CommandHost): Promise<number> {
  const command = parseCommandLine(argv, host.version);
  switch (command.type) {
    case "text":
      host.stdout.write(command.text);
      return 0;
    case "run":
      return (await import("./commands/run.ts")).run(command, host);
    case "approve":
      return (await import("./commands/approve.ts")).approve(command, host);
    case "sessions":
      return (await import("./commands/sessions.ts")).sessions(command, host);
    case "permissions":
      return (await import("./commands/permissions.ts")).permissions(command, host);
    case "trust":
      return (await import("./commands/trust.ts")).trust(command, host);
    case "mcp":
      return (await import("./commands/mcp.ts")).mcp(command, host);
    case "mcp-serve":
      return (await import("./commands/mcp-serve.ts")).mcpServe(command, host);
    case "sandbox":
      return (await import("./commands/sandbox.ts")).sandbox(command, host);
    case "doctor":
      return (await import("./commands/doctor.ts")).doctor(command, host);
  }
}

/** Keelson's own errors say what to do; a stack would hide it. */
function isExpected(error: unknown): error is Error {
  return error instanceof KeelsonError || (error instanceof Error && "~keelson" in error);
}
