import { hasBrand, KeelsonError, type RecordedError, type SerializedError } from "./keelson-error.ts";

/** Why a tool call gave no result. */
export type ToolFailure = { readonly message: string } & (
  | { readonly kind: "not-found"; readonly tool: string; readonly available: readonly string[] }
  | { readonly kind: "execution-failed"; readonly tool: string }
  /** The arguments did not match the schema; `issues` is what the model is told. */
  | { readonly kind: "invalid-input"; readonly tool: string; readonly issues: readonly string[] }
  | { readonly kind: "timeout"; readonly tool: string; readonly timeoutMs: number }
  | { readonly kind: "cancelled"; readonly tool: string }
  /** A tool that cannot be offered: bad name, schema or option. */
  | { readonly kind: "invalid-definition"; readonly tool: string }
  | { readonly kind: "other" }
);

export const TOOL_FAILURE_RETRYABLE: { readonly [K in ToolFailure["kind"]]: boolean } = {
  "not-found": false,
  "execution-failed": false,
  "invalid-input": false,
  "timeout": false,
  "cancelled": false,
  "invalid-definition": false,
  "other": false,
};

export class ToolError extends KeelsonError<ToolFailure> {
  override readonly "name" = "ToolError";
  readonly "~keelson" = "ToolError";

  get "retryable"(): boolean {
    return TOOL_FAILURE_RETRYABLE[this.failure.kind] ?? false;
  }

  static "is"<K extends ToolFailure["kind"]>(
    error: unknown,
    kind?: K,
  ): error is ToolError & { readonly failure: Extract<ToolFailure, { kind: K }> } {
    return hasBrand(error, "ToolError") && (kind === undefined || (error as ToolError).failure.kind === kind);
  }

  static "fromJSON"(data: SerializedError): RecordedError<ToolError> {
    return new ToolError(data.failure as ToolFailure, { cause: data.cause });
  }
}
