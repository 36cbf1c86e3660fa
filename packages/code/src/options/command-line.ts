import type { Decision, EffortLevel, JsonObject, PermissionMode, PermissionRule, RunStatus, Usd } from "@keelson/protocol";
import type { Since } from "./parse-since.ts";

/** `claude-stream-json`: lines as Claude Code writes them. */
export type OutputFormat = "text" | "json" | "stream-json" | "claude-stream-json";

export const OUTPUT_FORMATS: readonly OutputFormat[] = ["text", "json", "stream-json", "claude-stream-json"];

/** `stream-json`: a message in each line of standard input. */
export type InputFormat = "text" | "stream-json";

export const INPUT_FORMATS: readonly InputFormat[] = ["text", "stream-json"];

/** What a run without a person does with a question: wait for `keelson approve` (exit code 4), or deny it and go on. */
export type OnApproval = "suspend" | "deny";

/** What shapes the agent of a run. Absent: the value the session was started with, else the default. */
export interface AgentOptions {
  readonly model?: string;
  readonly fallbackModel?: string;
  readonly effort?: EffortLevel;
  /** Folders beside the working directory; absolute where they are recorded. */
  readonly folders?: readonly string[];
  /** Text at the end of the system prompt, before the files of instructions. */
  readonly appendSystemPrompt?: string;
  /** JSON Schema of the response. */
  readonly outputSchema?: JsonObject;
  readonly permissionMode?: PermissionMode;
  readonly rules: readonly PermissionRule[];
  /** Path of a policy file; absolute where it is recorded. */
  readonly policy?: string;
  /** True: commands run in a sandbox or not at all. False: without one. Absent: in one if it can be made. */
  readonly sandbox?: boolean;
  /** `false`: without servers of the Model Context Protocol. */
  readonly mcp?: false;
  /** Path of a file with servers, beside those of the person and the project; absolute where it is recorded. */
  readonly mcpConfig?: string;
  readonly maxTurns?: number;
  readonly maxCost?: Usd;
  /** The action if `maxCost` is met. Absent: a terminal asks for more, and `--print` ends. */
  readonly onBudget?: "ask" | "end";
  readonly timeoutMs?: number;
}

export type SessionChoice =
  | { readonly type: "new" }
  | { readonly type: "newest" }
  /** The id or its beginning. */
  | { readonly type: "named"; readonly id: string }
  /** The person chooses from a list. */
  | { readonly type: "choose" };

export interface RunCommand {
  readonly type: "run";
  readonly task?: string;
  /** Print the response and exit, instead of a conversation. */
  readonly print: boolean;
  readonly outputFormat: OutputFormat;
  /** Default `text`. */
  readonly inputFormat?: InputFormat;
  /** Pieces of messages are written as they arrive. For `claude-stream-json` alone. */
  readonly partialMessages?: true;
  readonly onApproval: OnApproval;
  readonly session: SessionChoice;
  readonly fork: boolean;
  /** Use what the project brings without asking. */
  readonly trust: boolean;
  readonly cwd?: string;
  /** The name of a worktree to make and to work in; `true` for one that is made up. */
  readonly worktree?: string | true;
  /** Output for a screen reader. Absent: as the settings say. */
  readonly screenReader?: true;
  readonly agent: AgentOptions;
}

export interface ApproveCommand {
  readonly type: "approve";
  /** The token of a question, or its short id. Absent: lists what waits. */
  readonly token?: string;
  readonly decision?: Decision["type"];
  /** The open questions are listed as JSON. */
  readonly json?: true;
  /** JSON or text; `-` is standard input. */
  readonly value?: string;
  /** Of `allow-always`: patterns of allow rules. Absent: what the question offers first. */
  readonly rules?: readonly string[];
}

export type SessionsAction =
  | ListAction
  | { readonly type: "search"; readonly text: string; readonly session?: string; readonly limit?: number }
  | { readonly type: "show"; readonly id: string }
  | { readonly type: "fork"; readonly id: string; readonly name?: string; readonly turn?: number; readonly seq?: number }
  | {
      readonly type: "rewind";
      readonly id: string;
      readonly turn: number;
      /** Default: the conversation alone. */
      readonly rewinds?: "conversation" | "files" | "both";
      /** Also the changes of which it is not known that the session made them. */
      readonly takesUnclear?: boolean;
    }
  | { readonly type: "compact"; readonly id: string; readonly keep?: string }
  | { readonly type: "rename"; readonly id: string; readonly name: string }
  | { readonly type: "tag"; readonly id: string; readonly tags: readonly string[] }
  | { readonly type: "delete"; readonly id: string }
  | { readonly type: "rehearse"; readonly session?: string }
  | SessionFilesAction;

/** Those that all of it fits. */
export interface ListAction {
  readonly type: "list";
  /** Of every folder. */
  readonly all: boolean;
  readonly agent?: string;
  readonly tag?: string;
  readonly state?: RunStatus;
  readonly since?: Since;
}

/** What is done with whole sessions, and with the files that they are exported to. */
export type SessionFilesAction =
  | { readonly type: "export"; readonly id: string; readonly file: string }
  | { readonly type: "import"; readonly file: string; readonly as?: string }
  | { readonly type: "check"; readonly session?: string }
  | { readonly type: "repair"; readonly id: string }
  | PruneAction;

export interface PruneAction {
  readonly type: "prune";
  readonly maxAgeMs?: number;
  readonly maxBytes?: number;
  readonly sealAfterMs?: number;
  /** A folder. */
  readonly archive?: string;
  readonly dryRun: boolean;
}

export interface SessionsCommand {
  readonly type: "sessions";
  readonly action: SessionsAction;
  readonly json: boolean;
  readonly cwd?: string;
}

export type PermissionsAction =
  | { readonly type: "list"; readonly all: boolean }
  | { readonly type: "allow"; readonly rule: string }
  | { readonly type: "remove"; readonly rule: string }
  | { readonly type: "explain"; readonly command: string; readonly agent: AgentOptions };

export interface PermissionsCommand {
  readonly type: "permissions";
  readonly action: PermissionsAction;
  readonly json: boolean;
  readonly cwd?: string;
}

export interface TrustCommand {
  readonly type: "trust";
  readonly action: "list" | "accept" | "forget";
  /** Relative to the project's root. Empty: everything. */
  readonly paths: readonly string[];
  /** The beginning of the digest that was looked at; anything else is refused. */
  readonly digest?: string;
  readonly json: boolean;
  readonly cwd?: string;
}

export type McpAction =
  | { readonly type: "list" }
  | McpAddAction
  | { readonly type: "remove"; readonly name: string; readonly scope?: ServerFile }
  | { readonly type: "test"; readonly name: string }
  | { readonly type: "login" | "logout"; readonly name: string };

/** A file that servers are kept in: the person's own, or the project's. */
export type ServerFile = "user" | "project";

export interface McpAddAction {
  readonly type: "add";
  readonly name: string;
  readonly scope: ServerFile;
  /** As it stands in the file. */
  readonly entry: JsonObject;
}

/** `keelson mcp list|add|remove|test|login|logout`: the servers that the agent uses. */
export interface McpCommand {
  readonly type: "mcp";
  readonly action: McpAction;
  readonly json: boolean;
  readonly trust: boolean;
  readonly cwd?: string;
  readonly agent: AgentOptions;
}

/** `keelson mcp serve`: the agent for clients of the Model Context Protocol. */
export interface McpServeCommand {
  readonly type: "mcp-serve";
  /** Over HTTP on this port. Absent: one client over standard input and output. */
  readonly port?: number;
  readonly trust: boolean;
  readonly cwd?: string;
  readonly agent: AgentOptions;
}

export interface DoctorCommand {
  readonly type: "doctor";
  readonly json: boolean;
  readonly cwd?: string;
}

export interface SandboxCommand {
  readonly type: "sandbox";
  /** A program and its arguments. */
  readonly command: readonly string[];
  /** Path of a policy file. */
  readonly policy?: string;
  readonly cwd?: string;
}

/** `--help` or `--version`: print this and exit with 0. */
export interface PrintText {
  readonly type: "text";
  readonly text: string;
}

export type CommandLine =
  | RunCommand
  | ApproveCommand
  | SessionsCommand
  | PermissionsCommand
  | TrustCommand
  | SandboxCommand
  | McpCommand
  | McpServeCommand
  | DoctorCommand
  | PrintText;
