import { KeelsonError } from "@keelson/protocol";
import type { Surroundings } from "./core/surroundings.ts";
import { parseCommandLine } from "./options/parse-command-line.ts";
import { UsageError } from "./options/usage-error.ts";
import { printable } from "./render/printable.ts";

const WRONG_USAGE = 2;
const FAILED = 1;

/** The whole command: reads the arguments, does it, explains what went wrong. @returns the exit code */
export async function main(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const complain = (text: string): void => void surroundings.stderr.write(`keelson: ${printable(text)}\n`);
  try {
    return await dispatch(argv, surroundings);
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
async function dispatch(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const command = parseCommandLine(argv, surroundings.version);
  switch (command.type) {
    case "text":
      surroundings.stdout.write(command.text);
      return 0;
    case "run":
      return (await import("./commands/run.ts")).run(command, surroundings);
    case "approve":
      return (await import("./commands/approve.ts")).approve(command, surroundings);
    case "sessions":
      return (await import("./commands/sessions.ts")).sessions(command, surroundings);
    case "permissions":
      return (await import("./commands/permissions.ts")).permissions(command, surroundings);
    case "doctor":
      return (await import("./commands/doctor.ts")).doctor(command, surroundings);
  }
}

/** Keelson's own errors say what to do; a stack would hide it. */
function isExpected(error: unknown): error is Error {
  return error instanceof KeelsonError || (error instanceof Error && "~keelson" in error);
}
