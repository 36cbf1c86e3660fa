import type { PermissionRule } from "@keelson/protocol";
import { agentOptions } from "./agent-options.ts";
import type { RunCommand, SessionChoice } from "./command-line.ts";
import type { ProgramOptions } from "./program-options.ts";
import { UsageError } from "./usage-error.ts";

/** `keelson` without a command: a task, or a conversation. */
export function runCommand(task: readonly string[], options: ProgramOptions, rules: readonly PermissionRule[]): RunCommand {
  if (options.continue && options.resume !== undefined)
    throw new UsageError("-c and -r exclude each other", "Use -c for the newest session of this folder, or -r with the id of a session.");
  if (options.fork && !options.continue && options.resume === undefined)
    throw new UsageError("--fork needs a session to copy", "Add -c, or -r with the id of a session.");
  const session: SessionChoice = options.continue
    ? { type: "newest" }
    : options.resume === undefined
      ? { type: "new" }
      : options.resume === true
        ? { type: "choose" }
        : { type: "named", id: options.resume };
  const text = task.join(" ").trim();
  return {
    type: "run",
    ...(text !== "" && { task: text }),
    // Another format than text can only be meant for a program that reads it.
    print: options.print === true || (options.outputFormat !== undefined && options.outputFormat !== "text"),
    outputFormat: options.outputFormat ?? "text",
    onApproval: options.onApproval,
    session,
    fork: options.fork === true,
    trust: options.trust === true,
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    agent: agentOptions(options, rules),
  };
}
