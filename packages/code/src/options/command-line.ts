import type { Decision, PermissionMode, PermissionRule, Usd } from "@keelson/protocol";

export type OutputFormat = "text" | "json" | "stream-json";

export const OUTPUT_FORMATS: readonly OutputFormat[] = ["text", "json", "stream-json"];

/** What a run without a person does with a question: wait for `keelson approve` (exit code 4), or deny it and go on. */
export type OnApproval = "suspend" | "deny";

/** What shapes the agent of a run. Absent: the value the session was started with, else the default. */
export interface AgentOptions {
  readonly model?: string;
  readonly fallbackModel?: string;
  readonly permissionMode?: PermissionMode;
  readonly rules: readonly PermissionRule[];
  /** Path of a policy file; absolute where it is recorded. */
  readonly policy?: string;
  /** Commands run in a sandbox. */
  readonly sandbox?: boolean;
  readonly maxTurns?: number;
  readonly maxCost?: Usd;
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
  readonly onApproval: OnApproval;
  readonly session: SessionChoice;
  readonly fork: boolean;
  /** Use what the project brings without asking. */
  readonly trust: boolean;
  readonly cwd?: string;
  readonly agent: AgentOptions;
}

export interface ApproveCommand {
  readonly type: "approve";
  readonly token: string;
  readonly decision: Decision["type"];
  /** JSON or text; `-` is standard input. */
  readonly value?: string;
  /** Of `allow-always`: patterns of allow rules. Absent: what the question offers first. */
  readonly rules?: readonly string[];
}

export type SessionsAction =
  | { readonly type: "list"; readonly all: boolean }
  | { readonly type: "show"; readonly id: string }
  | { readonly type: "fork"; readonly id: string; readonly name?: string; readonly turn?: number }
  | { readonly type: "rewind"; readonly id: string; readonly turn: number }
  | { readonly type: "rename"; readonly id: string; readonly name: string }
  | { readonly type: "tag"; readonly id: string; readonly tags: readonly string[] }
  | { readonly type: "delete"; readonly id: string };

export interface SessionsCommand {
  readonly type: "sessions";
  readonly action: SessionsAction;
  readonly json: boolean;
  readonly cwd?: string;
}

export type PermissionsAction =
  | { readonly type: "list"; readonly all: boolean }
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
  | DoctorCommand
  | PrintText;
