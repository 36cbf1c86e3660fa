import type { ModelFailure } from "./model-error.ts";
import type { Usd } from "../usd.ts";
import { hasBrand, KeelsonError, type RecordedError, type SerializedError } from "./keelson-error.ts";

/** Why a run, or the making of an agent or runner, failed. The top of the hierarchy: whatever crosses the agent boundary is one. */
export type AgentFailure = { readonly message: string } &
  /** `retryable` of the model failure is decided by its own table; here the run has already given up. */
  (
    | { readonly kind: "model"; readonly model: ModelFailure }
    | { readonly kind: "tool"; readonly tool?: string }
    | { readonly kind: "strategy" }
    | { readonly kind: "middleware" }
    | { readonly kind: "directive" }
    /** A log, store, ledger or file system failed. */
    | { readonly kind: "backend" }
    /** The session does not exist, is held by another process, is damaged, or has a run that must end first. */
    | { readonly kind: "session"; readonly session: string }
    /** A value thrown by user code that can influence the run. */
    | { readonly kind: "panic"; readonly callback: string }
    | { readonly kind: "budget-exceeded"; readonly limitUsd: Usd; readonly spentUsd: Usd }
    /** An option of an agent, a runner or a run is wrong; `option` is its path. */
    | { readonly kind: "invalid-option"; readonly option: string }
    /** The model's last response does not give the structured output: what is wrong with it, and what it was. */
    | { readonly kind: "invalid-output"; readonly issues: readonly string[]; readonly text: string }
    /** An approval token was refused. */
    | { readonly kind: "invalid-token"; readonly reason: "malformed" | "forged" | "expired" | "used" | "mismatch" }
    /** This process lost the session; the run goes on elsewhere. */
    | { readonly kind: "detached"; readonly session: string }
    /** Keelson broke its own rule. Please report it. */
    | { readonly kind: "bug" }
    | { readonly kind: "other" }
  );

export const AGENT_FAILURE_RETRYABLE: { readonly [K in AgentFailure["kind"]]: boolean } = {
  "model": false,
  "tool": false,
  "strategy": false,
  "middleware": false,
  "directive": false,
  "backend": false,
  "session": false,
  "panic": false,
  "budget-exceeded": false,
  "invalid-option": false,
  "invalid-output": false,
  "invalid-token": false,
  "detached": false,
  "bug": false,
  "other": false,
};

export class AgentError extends KeelsonError<AgentFailure> {
  override readonly "name" = "AgentError";
  readonly "~keelson" = "AgentError";

  get "retryable"(): boolean {
    return AGENT_FAILURE_RETRYABLE[this.failure.kind] ?? false;
  }

  static "is"<K extends AgentFailure["kind"]>(
    error: unknown,
    kind?: K,
  ): error is AgentError & { readonly failure: Extract<AgentFailure, { kind: K }> } {
    return hasBrand(error, "AgentError") && (kind === undefined || (error as AgentError).failure.kind === kind);
  }

  static "fromJSON"(data: SerializedError): RecordedError<AgentError> {
    return new AgentError(data.failure as AgentFailure, { cause: data.cause });
  }
}
