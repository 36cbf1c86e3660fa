import { hasBrand, KeelsonError, type RecordedError, type SerializedError } from "./keelson-error.ts";

/** Why a Model Context Protocol server did not do what was asked. */
export type McpFailure = { readonly message: string } & (
  | { readonly kind: "not-connected"; readonly server: string }
  | { readonly kind: "transport"; readonly server: string }
  | { readonly kind: "protocol"; readonly server: string; readonly code?: number }
  | { readonly kind: "tool-failed"; readonly server: string; readonly tool: string }
  | { readonly kind: "timeout"; readonly server: string; readonly timeoutMs: number }
  | { readonly kind: "unauthorized"; readonly server: string; readonly reason?: McpUnauthorizedReason }
  | { readonly kind: "other" }
);

/**
 * Why a server does not let somebody in, where that is known. `login-needed`: a person has to log in, for the first time or again. `scope-needed`: they
 * have to agree to more. `refused`: an authorization server said no. The others: what it, or the server, asked for is not done, because it would not be safe.
 */
export type McpUnauthorizedReason =
  | "login-needed"
  | "scope-needed"
  | "refused"
  | "foreign-redirect"
  | "insecure-address"
  | "private-address"
  | "wrong-resource"
  | "wrong-issuer"
  | "wrong-state"
  | "no-pkce"
  | "no-registration";

export const MCP_FAILURE_RETRYABLE: { readonly [K in McpFailure["kind"]]: boolean } = {
  "not-connected": true,
  "transport": true,
  "protocol": false,
  "tool-failed": false,
  "timeout": true,
  "unauthorized": false,
  "other": false,
};

export class McpError extends KeelsonError<McpFailure> {
  override readonly "name" = "McpError";
  readonly "~keelson" = "McpError";

  get "retryable"(): boolean {
    return MCP_FAILURE_RETRYABLE[this.failure.kind] ?? false;
  }

  static "is"<K extends McpFailure["kind"]>(
    error: unknown,
    kind?: K,
  ): error is McpError & { readonly failure: Extract<McpFailure, { kind: K }> } {
    return hasBrand(error, "McpError") && (kind === undefined || (error as McpError).failure.kind === kind);
  }

  static "fromJSON"(data: SerializedError): RecordedError<McpError> {
    return new McpError(data.failure as McpFailure, { cause: data.cause });
  }
}
