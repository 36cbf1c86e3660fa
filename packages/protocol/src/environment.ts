import type { ExecutionContext } from "./execution-context.ts";
import type { OperatorInput } from "./operator-input.ts";
import type { OperatorOutput } from "./operator-output.ts";

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
}

/** Runs an operator it holds, inside boundaries. Takes data only. Failures reject with `EnvironmentError`. */
export interface Environment {
  run(input: OperatorInput, spec: EnvironmentSpec, context: ExecutionContext): Promise<OperatorOutput>;
}
