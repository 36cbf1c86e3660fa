import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import {
  DECISION_TYPES,
  PERMISSION_MODES,
  type PermissionBehavior,
  type PermissionMode,
  type PermissionRule,
  type Usd,
  compareUsd,
  usd,
  ZERO_USD,
} from "@keelson/protocol";
import {
  type AgentOptions,
  type ApproveCommand,
  type CommandLine,
  type OnApproval,
  OUTPUT_FORMATS,
  type OutputFormat,
  type RunCommand,
  type SessionChoice,
  type SessionsAction,
  type TrustCommand,
} from "./command-line.ts";
import { parseDuration } from "./parse-duration.ts";
import { parseRule } from "./parse-rule.ts";
import { UsageError } from "./usage-error.ts";

interface RawOptions {
  readonly print?: true;
  readonly model?: string;
  readonly fallbackModel?: string;
  readonly outputFormat?: OutputFormat;
  readonly permissionMode?: PermissionMode;
  readonly policy?: string;
  readonly sandbox?: true;
  readonly onApproval: OnApproval;
  readonly maxTurns?: number;
  readonly maxBudgetUsd?: Usd;
  readonly timeout?: number;
  readonly continue?: true;
  readonly resume?: string | true;
  readonly fork?: true;
  readonly trust?: true;
  readonly cwd?: string;
}

const EXAMPLES = `
Examples:
  $ keelson                                        a conversation in the terminal
  $ keelson -p "why does the build fail?"          one task; prints the response and exits
  $ git diff | keelson -p "review this"            the task with more on standard input
  $ keelson -p --allow 'bash(npm test*)' "make the tests pass"
  $ keelson -c                                     go on with the newest session of this folder

Rules: they are held against what a call says it would start, read and write. What the programs that you allow do in turn, such as tests
  or scripts, is not seen, so allow what you would run unread; a sandbox is what keeps a program from something.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a limit was reached, 4 waiting for a decision, 130 stopped.
Models: anthropic/<id>, openai/<id> (Chat Completions), openai-responses/<id> (Responses), gemini/<id>, ollama/<id>, and
  <vendor>/<id> of vendors that are compatible with OpenAI, as in groq/<id>, with their key or <VENDOR>_BASE_URL set.
Environment: ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, OPENAI_API_KEY, OPENAI_BASE_URL, GEMINI_API_KEY, GEMINI_BASE_URL,
  OLLAMA_HOST, <VENDOR>_API_KEY, <VENDOR>_BASE_URL, KEELSON_HOME (default ~/.keelson), KEELSON_SANDBOX=1 (as --sandbox), NO_COLOR.`;

const SANDBOX_EXAMPLES = `
Examples:
  $ keelson sandbox -- npm test
  $ keelson sandbox --policy policy.json -- sh -c 'npm ci && npm test'

It ends with the exit code of the command; where no sandbox can be made, with 1 and the reason, and nothing is run.`;

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

  program
    .description("A coding agent for the terminal.")
    .argument("[task...]", "what to do; also read from standard input")
    .option("-p, --print", "print the response and exit (also when there is no terminal)")
    .option("--model <provider/id>", "model to use", modelName)
    .option("--fallback-model <provider/id>", "model to go on with when the first one keeps failing", modelName)
    .addOption(new Option("--output-format <format>", "what --print writes to standard output").choices(OUTPUT_FORMATS))
    .addOption(new Option("--permission-mode <mode>", "what may run without asking").choices(PERMISSION_MODES))
    .addOption(ruleOption("allow", "let calls run that match, as in 'bash(npm test*)' (repeatable)", rules))
    .addOption(ruleOption("deny", "refuse calls that match (repeatable)", rules))
    .addOption(ruleOption("ask", "ask before calls that match (repeatable)", rules))
    .option(
      "--policy <file>",
      "JSON that says what tools and commands may do and touch (default: policy.json in the home folder of Keelson)",
    )
    .option("--sandbox", "run the agent's commands in a sandbox of the policy, without questions about what stays inside")
    .addOption(
      new Option("--on-approval <action>", "with --print, what to do with a question").choices(["suspend", "deny"]).default("suspend"),
    )
    .option("--max-turns <n>", "end after so many turns", (text) => positiveInteger(text, "--max-turns"))
    .option("--max-budget-usd <amount>", "end before more than this is spent", (text) => amount(text, "--max-budget-usd"))
    .option("--timeout <duration>", "end after this time: 90s, 10m, 1h", (text) => parseDuration(text, "--timeout"))
    .option("-c, --continue", "go on with the newest session of this folder")
    .option("-r, --resume [session]", "go on with a session: its id or the beginning of it; alone, choose one of this folder")
    .option("--fork", "with -c or -r: leave that session as it is and go on in a copy")
    .option("--trust", "use the project's instructions and hooks without asking, in this run")
    .option("-C, --cwd <folder>", "work in this folder")
    .version(version, "-V, --version")
    .addHelpText("after", EXAMPLES)
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ writeOut: (text) => void (shown += text), writeErr: () => {} })
    .action((task: string[], options: RawOptions) => accept(runCommand(task, options, rules)));

  program
    .command("approve")
    .description("decide what a suspended run asks")
    .argument("<token>", "the token of the question")
    .addArgument(program.createArgument("<decision>", "the answer").choices(DECISION_TYPES))
    .argument(
      "[value...]",
      "JSON of allow-modified and supply, reason of deny, fail and abort (- reads standard input); rules of allow-always, by default the narrowest that the question offers",
    )
    .action((token: string, decision: (typeof DECISION_TYPES)[number], values: string[]) =>
      accept(approveCommand(token, decision, values)),
    );

  addSessions(program, accept);
  addPermissions(program, accept, rules);
  addTrust(program, accept);

  program
    .command("doctor")
    .description("check keys, home folder, tools and Node")
    .option("--json", "print JSON")
    .action((options: { json?: true }) => accept({ type: "doctor", json: options.json === true, ...cwdOf(program) }));

  addSandbox(program, accept);

  try {
    program.parse([...argv], { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return { type: "text", text: shown };
    if (error instanceof CommanderError) throw usageError(error, shown);
    throw error;
  }
  if (parsed === undefined) throw new UsageError("nothing to do");
  return parsed;
}

function addSessions(program: Command, accept: (command: CommandLine) => void): void {
  const sessions = program.command("sessions").description("list and change sessions");
  const add = <Arguments extends readonly unknown[]>(
    name: string,
    description: string,
    action: (options: { readonly [name: string]: unknown }, ...values: Arguments) => SessionsAction,
  ): Command =>
    sessions
      .command(name)
      .description(description)
      .option("--json", "print JSON")
      .action((...given: unknown[]) => {
        const options = given.at(-2) as { readonly [name: string]: unknown };
        accept({
          type: "sessions",
          action: action(options, ...(given.slice(0, -2) as readonly unknown[] as Arguments)),
          json: options["json"] === true,
          ...cwdOf(program),
        });
      });

  add("list", "the sessions of this folder, newest first", (options) => ({ type: "list", all: options["all"] === true })).option(
    "-a, --all",
    "of every folder",
  );
  add<[string]>("show <session>", "its facts and conversation", (_, id) => ({ type: "show", id }));
  add<[string]>("fork <session>", "a copy to go on in", (options, id) => {
    const { name, turn } = options as { name?: string; turn?: number };
    return { type: "fork", id, ...(name !== undefined && { name }), ...(turn !== undefined && { turn }) };
  })
    .option("--name <name>", "name of the copy")
    .option("--turn <n>", "copy up to the end of this turn", (text) => wholeNumber(text, "--turn"));
  add<[string, string]>("rewind <session> <turn>", "go back to the end of a turn", (_, id, turn) => ({
    type: "rewind",
    id,
    turn: wholeNumber(turn, "turn"),
  }));
  add<[string, string]>("rename <session> <name>", "give it a name", (_, id, name) => ({ type: "rename", id, name }));
  add<[string, string[]]>("tag <session> <tags...>", "add tags to it", (_, id, tags) => ({ type: "tag", id, tags }));
  add<[string]>("delete <session>", "delete it for good", (_, id) => ({ type: "delete", id }));
}

function addPermissions(program: Command, accept: (command: CommandLine) => void, rules: readonly PermissionRule[]): void {
  const permissions = program.command("permissions").description("show what always runs unasked in this project, and take it back");
  permissions
    .command("list", { isDefault: true })
    .description("the rules of this project")
    .option("-a, --all", "of every project")
    .option("--json", "print JSON")
    .action((options: { all?: true; json?: true }) =>
      accept({ type: "permissions", action: { type: "list", all: options.all === true }, json: options.json === true, ...cwdOf(program) }),
    );
  permissions
    .command("explain")
    .description("tell what the agent may do with a command, with and without a sandbox, and why; nothing is run")
    .argument("<command...>", "a command line, in quotes, after --")
    .option("--json", "print JSON")
    .addHelpText("after", `\nExample:\n  $ keelson permissions explain --allow 'bash(npm test*)' -- 'npm test; rm -rf build'`)
    .action((words: string[], options: { json?: true }) =>
      accept({
        type: "permissions",
        action: { type: "explain", command: words.join(" "), agent: agentOptions(program.opts<RawOptions>(), rules) },
        json: options.json === true,
        ...cwdOf(program),
      }),
    );
  permissions
    .command("remove")
    .description("ask again about what a rule allows")
    .argument("<rule>", "as it is listed, in quotes")
    .option("--json", "print JSON")
    .action((rule: string, options: { json?: true }) =>
      accept({ type: "permissions", action: { type: "remove", rule }, json: options.json === true, ...cwdOf(program) }),
    );
}

function addTrust(program: Command, accept: (command: CommandLine) => void): void {
  const trust = program.command("trust").description("show what this project would have the agent run or obey, and trust it");
  const take = (action: TrustCommand["action"], paths: readonly string[], { json, digest }: { json?: true; digest?: string }): void =>
    accept({ type: "trust", action, paths, json: json === true, ...(digest !== undefined && { digest }), ...cwdOf(program) });
  trust
    .command("list", { isDefault: true })
    .description("what it brings: instructions and hooks, with their digests")
    .option("--json", "print JSON")
    .action((options: { json?: true }) => take("list", [], options));
  trust
    .command("accept")
    .description("trust it as it is now; a change asks again")
    .argument("[paths...]", "only these, as they are listed")
    .option("--digest <sha256>", "only if the one path still has this digest, or one that begins so")
    .option("--json", "print JSON")
    .action((paths: string[], options: { json?: true; digest?: string }) => take("accept", paths, options));
  trust
    .command("forget")
    .description("trust nothing of it any more")
    .option("--json", "print JSON")
    .action((options: { json?: true }) => take("forget", [], options));
}

function addSandbox(program: Command, accept: (command: CommandLine) => void): void {
  program
    .command("sandbox")
    .description("run a command that can write to this folder alone, and has no network unless a policy gives it one")
    .argument("<command...>", "a program and its arguments, after --")
    .option("--policy <file>", "JSON that says what it may touch (docs/guides/sandbox.md)")
    .addHelpText("after", SANDBOX_EXAMPLES)
    .action((command: string[], options: { policy?: string }) => {
      // The program has an option of that name, which takes it wherever it stands before the command.
      const policy = options.policy ?? program.opts<RawOptions>().policy;
      accept({ type: "sandbox", command, ...(policy !== undefined && { policy }), ...cwdOf(program) });
    });
}

function approveCommand(token: string, decision: (typeof DECISION_TYPES)[number], values: readonly string[]): ApproveCommand {
  const command = { type: "approve", token, decision } as const;
  if (values.length === 0) return command;
  if (decision === "allow-always") return { ...command, rules: values.map((rule) => parseRule(rule, "allow").pattern) };
  const [value = "", ...more] = values;
  if (more.length > 0) throw new UsageError(`${decision} takes one value, not ${values.length}`, "Quote it for the shell.");
  return { ...command, value };
}

function runCommand(task: readonly string[], options: RawOptions, rules: readonly PermissionRule[]): RunCommand {
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

function agentOptions(options: RawOptions, rules: readonly PermissionRule[]): AgentOptions {
  return {
    rules,
    ...(options.model !== undefined && { model: options.model }),
    ...(options.fallbackModel !== undefined && { fallbackModel: options.fallbackModel }),
    ...(options.permissionMode !== undefined && { permissionMode: options.permissionMode }),
    ...(options.policy !== undefined && { policy: options.policy }),
    ...(options.sandbox === true && { sandbox: true }),
    ...(options.maxTurns !== undefined && { maxTurns: options.maxTurns }),
    ...(options.maxBudgetUsd !== undefined && { maxCost: options.maxBudgetUsd }),
    ...(options.timeout !== undefined && { timeoutMs: options.timeout }),
  };
}

function cwdOf(program: Command): { readonly cwd?: string } {
  const { cwd } = program.opts<{ cwd?: string }>();
  return cwd === undefined ? {} : { cwd };
}

function ruleOption(behavior: PermissionBehavior, description: string, rules: PermissionRule[]): Option {
  return new Option(`--${behavior} <rule>`, description).argParser((text) => void rules.push(parseRule(text, behavior)));
}

function modelName(text: string): string {
  if (!/^[\w.-]+\/\S+$/.test(text)) throw new InvalidArgumentError('Write provider/id, as in "anthropic/claude-sonnet-4-5".');
  return text;
}

function positiveInteger(text: string, option: string): number {
  const value = wholeNumber(text, option);
  if (value < 1) throw new UsageError(`${option} must be at least 1, not ${text}`);
  return value;
}

function wholeNumber(text: string, option: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new UsageError(`${option} must be a whole number, not ${JSON.stringify(text)}`);
  return value;
}

function amount(text: string, option: string): Usd {
  try {
    const value = usd(text);
    if (compareUsd(value, ZERO_USD) > 0) return value;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new UsageError(`${option} ${JSON.stringify(text)} is no amount`, "Write dollars as a decimal, such as 0.50 or 5.");
}

/** Commander's words without its prefix; `keelson sessions` alone shows that command's help. */
function usageError(error: CommanderError, shown: string): UsageError {
  if (error.code === "commander.help")
    return new UsageError(
      "`sessions` needs an action: list, show, fork, rewind, rename, tag or delete",
      shown === "" ? "Try `keelson sessions --help`." : shown,
    );
  return new UsageError(error.message.replace(/^error: /, ""));
}
