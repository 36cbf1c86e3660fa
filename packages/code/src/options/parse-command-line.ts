import { Command, CommanderError } from "commander";
import type { PermissionRule } from "@keelson/protocol";
import { addApprove } from "./add-approve.ts";
import { addDoctor } from "./add-doctor.ts";
import { addMcp } from "./add-mcp.ts";
import { addPermissions } from "./add-permissions.ts";
import { addSandbox } from "./add-sandbox.ts";
import { addSessions } from "./add-sessions.ts";
import { addTrust } from "./add-trust.ts";
import type { CommandLine } from "./command-line.ts";
import { addProgramOptions, type ProgramOptions } from "./program-options.ts";
import { runCommand } from "./run-command.ts";
import { UsageError } from "./usage-error.ts";

const EXAMPLES = `
Examples:
  $ keelson                                        a conversation in the terminal
  $ keelson -p "why does the build fail?"          one task; prints the response and exits
  $ git diff | keelson -p "review this"            the task with more on standard input
  $ keelson -p --allow 'bash(npm test*)' "make the tests pass"
  $ keelson -c                                     continue the newest session of this folder

Rules: they are held against what a call says it would start, read and write. What the programs that you allow do in turn, such as tests
  or scripts, is not seen, so allow what you would run unread; a sandbox is what keeps a program from something.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a limit was reached, 4 waiting for a decision,
  5 a session would not go on (sessions rehearse), 130 stopped.
Models: anthropic/<id>, openai/<id> (Chat Completions), openai-responses/<id> (Responses), gemini/<id>, ollama/<id>, and
  <vendor>/<id> of vendors that are compatible with OpenAI, as in groq/<id>, with their key or <VENDOR>_BASE_URL set.
Environment: ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, OPENAI_API_KEY, OPENAI_BASE_URL, GEMINI_API_KEY, GEMINI_BASE_URL,
  OLLAMA_HOST, <VENDOR>_API_KEY, <VENDOR>_BASE_URL, KEELSON_HOME (default ~/.keelson), KEELSON_SANDBOX (0: as --no-sandbox, 1: as --sandbox),
  KEELSON_HISTORY_BYTES (what undo may keep of a project, as in 8G; default 4G), NO_COLOR.
  Keys may stand in the file keys.json of KEELSON_HOME instead, in the keyring, or be printed by a command; keelson doctor says how.`;

/**
 * Reads the arguments after `keelson`.
 * @throws UsageError saying what is wrong and what would be right
 */
export function parseCommandLine(argv: readonly string[], version: string): CommandLine {
  let parsed: CommandLine | undefined;
  let shown = "";
  const rules: PermissionRule[] = [];
  const program = new Command("keelson");
  const accept = (command: CommandLine): void => void (parsed = command);

  program.description("A coding agent for the terminal.");
  addProgramOptions(program, rules);
  program
    .version(version, "-V, --version")
    .addHelpText("after", EXAMPLES)
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ writeOut: (text) => void (shown += text), writeErr: () => {} })
    .action((task: string[], options: ProgramOptions) => accept(runCommand(task, options, rules)));

  addApprove(program, accept);
  addSessions(program, accept);
  addPermissions(program, accept, rules);
  addTrust(program, accept);
  addDoctor(program, accept);
  addMcp(program, accept, rules);
  addSandbox(program, accept);

  try {
    program.parse([...argv], { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return { type: "text", text: shown };
    if (error instanceof CommanderError) throw usageError(error, shown, argv);
    throw error;
  }
  if (parsed === undefined) throw new UsageError("nothing to do");
  return parsed;
}

/** Commander's words without its prefix; `keelson sessions` and `keelson mcp` alone show that command's help. */
function usageError(error: CommanderError, shown: string, argv: readonly string[]): UsageError {
  if (error.code === "commander.help" && argv.at(-1) === "mcp")
    return new UsageError("`mcp` needs an action: list, add, remove, test, login, logout or serve", "Try `keelson mcp --help`.");
  if (error.code === "commander.help")
    return new UsageError(
      "`sessions` needs an action: list, show, fork, rewind, rename, tag, delete, export, import or check",
      shown === "" ? "Try `keelson sessions --help`." : shown,
    );
  return new UsageError(error.message.replace(/^error: /, ""));
}
