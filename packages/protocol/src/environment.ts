import type { ExecutionContext } from "./execution-context.ts";
import type { Executor } from "./executor.ts";
import type { RunId, SessionId } from "./ids.ts";
import type { OperatorInput } from "./operator-input.ts";
import type { OperatorOutput } from "./operator-output.ts";
import type { SandboxConfig } from "./sandbox.ts";
import type { Vfs } from "./vfs.ts";

export type IsolationBoundary =
  | { readonly type: "process" }
  | { readonly type: "container"; readonly image?: string }
  | { readonly type: "gvisor" }
  | { readonly type: "micro-vm" }
  | { readonly type: "wasm"; readonly runtime?: string }
  | { readonly type: "network-policy"; readonly rules: readonly NetworkRule[] }
  | { readonly type: "custom"; readonly name: string };

export interface NetworkRule {
  readonly destination: string;
  readonly port?: number;
  readonly action: "allow" | "deny";
}
export interface NetworkPolicy {
  readonly default: "allow" | "deny";
  readonly rules: readonly NetworkRule[];
}
export interface CredentialRef {
  readonly name: string;
  readonly reference: string;
  readonly injection:
    | { readonly type: "env-var"; readonly variable: string }
    | { readonly type: "file"; readonly path: string }
    | { readonly type: "sidecar" };
}
export interface ResourceLimits {
  readonly cpu?: string;
  readonly memory?: string;
  readonly disk?: string;
  readonly gpu?: string;
}
export interface EnvironmentSpec {
  readonly isolation: readonly IsolationBoundary[];
  readonly credentials: readonly CredentialRef[];
  readonly resources?: ResourceLimits;
  readonly network?: NetworkPolicy;
  /** What commands and files are held to beside the rest: every one of these that is enabled, at once. */
  readonly sandboxes?: readonly SandboxConfig[];
}

/** The files and programs of an environment. What is absent, its tools don't have. */
export interface ToolEnvironment {
  readonly files?: Vfs;
  readonly exec?: Executor;
}

/** What the tools of one run work with. Disposed of, nothing that was started through it is left. */
export interface OpenEnvironment extends ToolEnvironment, AsyncDisposable {}

/** The run that an environment is opened for. */
export interface EnvironmentUser {
  readonly runId: RunId;
  readonly session: SessionId;
  /** Fires when the run is aborted. */
  readonly signal: AbortSignal;
}

/** Boundaries. Takes data only. Failures reject with `EnvironmentError`; a spec that it can't hold with `provision-failed`, before anything runs. */
export interface Environment {
  /** Runs an operator it holds, inside of them. */
  run(input: OperatorInput, spec: EnvironmentSpec, context: ExecutionContext): Promise<OperatorOutput>;
  /** Gives the tools of a run files and programs inside of them. A run that is taken up again opens it again. */
  open?(spec: EnvironmentSpec, user: EnvironmentUser): Promise<OpenEnvironment>;
}
