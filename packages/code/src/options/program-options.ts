import { type Command, Option } from "commander";
import {
  type EffortLevel,
  type JsonObject,
  PERMISSION_MODES,
  type PermissionBehavior,
  type PermissionMode,
  type PermissionRule,
  type Usd,
} from "@keelson/protocol";
import { EFFORT_LEVELS } from "../core/effort-levels.ts";
import { INPUT_FORMATS, type InputFormat, type OnApproval, OUTPUT_FORMATS, type OutputFormat } from "./command-line.ts";
import { jsonSchema } from "./json-schema.ts";
import { amount, modelName, positiveInteger } from "./option-values.ts";
import { parseDuration } from "./parse-duration.ts";
import { parseRule } from "./parse-rule.ts";

/** What Commander reads of the options that `keelson` has beside its commands; rules go into the list that `addProgramOptions` was given. */
export interface ProgramOptions {
  readonly print?: true;
  readonly model?: string;
  readonly fallbackModel?: string;
  readonly effort?: EffortLevel;
  readonly addDir?: readonly string[];
  readonly appendSystemPrompt?: string;
  readonly jsonSchema?: JsonObject;
  readonly inputFormat?: InputFormat;
  readonly includePartialMessages?: true;
  readonly outputFormat?: OutputFormat;
  readonly permissionMode?: PermissionMode;
  readonly policy?: string;
  readonly sandbox?: boolean;
  readonly mcp: boolean;
  readonly mcpConfig?: string;
  readonly onApproval: OnApproval;
  readonly maxTurns?: number;
  readonly maxBudgetUsd?: Usd;
  readonly onBudget?: "ask" | "end";
  readonly timeout?: number;
  readonly continue?: true;
  readonly resume?: string | true;
  readonly fork?: true;
  readonly trust?: true;
  readonly cwd?: string;
  readonly worktree?: string | true;
  readonly screenReader?: true;
}

/** The task and the options of `keelson` without a command. Each rule is put into `rules` as it is read. */
export function addProgramOptions(program: Command, rules: PermissionRule[]): void {
  program
    .argument("[task...]", "what to do; also read from standard input")
    .option("-p, --print", "print the response and exit (also when there is no terminal)")
    .option("--model <provider/id>", "model to use", modelName)
    .option("--fallback-model <provider/id>", "model to continue with when the first one keeps failing", modelName)
    .addOption(new Option("--effort <level>", "how much the model thinks (default: as the model does)").choices(EFFORT_LEVELS))
    .option(
      "--add-dir <folder>",
      "another folder that the agent may read and change (repeatable)",
      (folder: string, before: readonly string[] = []) => [...before, folder],
    )
    .addOption(new Option("--output-format <format>", "what --print writes to standard output").choices(OUTPUT_FORMATS))
    .addOption(
      new Option("--input-format <format>", "with --print, what standard input holds: text, or a message in each line").choices(
        INPUT_FORMATS,
      ),
    )
    .option("--include-partial-messages", "with --output-format claude-stream-json, also pieces of messages as they arrive")
    .option("--json-schema <schema>", "with --print, the JSON Schema that the response must have: JSON, or the path of a file", jsonSchema)
    .option("--append-system-prompt <text>", "add a text to the system prompt")
    .addOption(new Option("--permission-mode <mode>", "what may run without asking").choices(PERMISSION_MODES))
    .addOption(ruleOption("allow", "let calls run that match, as in 'bash(npm test*)' (repeatable)", rules))
    .addOption(ruleOption("deny", "refuse calls that match (repeatable)", rules))
    .addOption(ruleOption("ask", "ask before calls that match (repeatable)", rules))
    .option(
      "--policy <file>",
      "JSON that says what tools and commands may do and touch (default: policy.json in the home folder of Keelson)",
    )
    .option(
      "--sandbox",
      "start only if the agent's commands, and MCP servers, can run in a sandbox (default: commands, if one can be made)",
    )
    .option("--no-sandbox", "run the agent's commands without a sandbox, and ask about each that is not known to be harmless")
    .addOption(
      new Option("--on-approval <action>", "with --print, what to do with a question").choices(["suspend", "deny"]).default("suspend"),
    )
    .option("--max-turns <n>", "end after so many turns", (text) => positiveInteger(text, "--max-turns"))
    .option("--max-budget-usd <amount>", "ask, or end, before more than this is spent", (text) => amount(text, "--max-budget-usd"))
    .addOption(
      new Option(
        "--on-budget <action>",
        "if the budget is met: ask for more, or end (default: ask in a terminal, end with --print)",
      ).choices(["ask", "end"]),
    )
    .option("--timeout <duration>", "end after this time: 90s, 10m, 1h", (text) => parseDuration(text, "--timeout"))
    .option("-c, --continue", "continue the newest session of this folder")
    .option("-r, --resume [session]", "continue a session: its id or the beginning of it; alone, choose one of this folder")
    .option("--fork", "with -c or -r: leave that session as it is and go on in a copy")
    .option("--trust", "use the project's instructions, hooks and MCP servers without asking, in this run")
    .option("--mcp-config <file>", "JSON with MCP servers to use beside your own and the project's")
    .option("--no-mcp", "use no MCP servers")
    .option("--screen-reader", "write for a screen reader: lines one after another, without a cursor that moves (also: TERM=dumb)")
    .option("-C, --cwd <folder>", "work in this folder")
    .option("--worktree [name]", "work in a new git worktree, on a branch keelson/<name>; put -- before a task that follows");
}

function ruleOption(behavior: PermissionBehavior, description: string, rules: PermissionRule[]): Option {
  return new Option(`--${behavior} <rule>`, description).argParser((text) => void rules.push(parseRule(text, behavior)));
}
