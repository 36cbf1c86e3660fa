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
  if (options.worktree !== undefined && !options.fork && (options.continue || options.resume !== undefined))
    throw new UsageError(
      "a session goes on in the folder that it works in",
      "Leave --worktree away: a session of a worktree goes on in it. Or go on in a copy, in a worktree of its own: add --fork.",
    );
  const session: SessionChoice = options.continue
    ? { type: "newest" }
    : options.resume === undefined
      ? { type: "new" }
      : options.resume === true
        ? { type: "choose" }
        : { type: "named", id: options.resume };
  const text = task.join(" ").trim();
  const format = options.outputFormat ?? "text";
  if (options.includePartialMessages && format !== "claude-stream-json")
    throw new UsageError(
      "--include-partial-messages is about --output-format claude-stream-json",
      "The format stream-json has every piece without it; text and json have none.",
    );
  const isStreamed = options.inputFormat === "stream-json";
  if (isStreamed && text !== "")
    throw new UsageError(
      "--input-format stream-json reads the task from standard input",
      "Leave the argument away, or send it as the first message.",
    );
  const print = options.print === true || format !== "text" || isStreamed;
  if (options.jsonSchema !== undefined && !print)
    throw new UsageError("--json-schema is about the response of one task", "Add -p. A conversation has no single response.");
  return {
    type: "run",
    ...(text !== "" && { task: text }),
    // Another format than text can only be meant for a program that reads it.
    print,
    outputFormat: format,
    ...(isStreamed && { inputFormat: "stream-json" as const }),
    ...(options.includePartialMessages && { partialMessages: true as const }),
    onApproval: options.onApproval,
    session,
    fork: options.fork === true,
    trust: options.trust === true,
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    ...(options.worktree !== undefined && { worktree: options.worktree }),
    ...(options.screenReader && { screenReader: true as const }),
    agent: agentOptions(options, rules),
  };
}
