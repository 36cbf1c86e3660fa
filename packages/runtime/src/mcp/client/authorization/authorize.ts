/** A login that is about to begin. */
export interface McpAuthorizeRequest {
  /** Name of the server. */
  readonly server: string;
  /** Comes back with the redirect that belongs to this login, and with no other. */
  readonly state: string;
  readonly signal: AbortSignal;
}

/** Where an authorization server sends a person back to. */
export interface McpRedirect extends Partial<AsyncDisposable> {
  readonly uri: string;
  /** Has a person open the address and agree. @returns the address that their browser was sent to then, whole */
  visit(address: string): Promise<string>;
}

/** Has a person log in: see `loopbackAuthorization`. What it gives is disposed of when the login is over. */
export type McpAuthorize = (request: McpAuthorizeRequest) => McpRedirect | Promise<McpRedirect>;
