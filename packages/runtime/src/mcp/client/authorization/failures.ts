import { McpError, type McpUnauthorizedReason } from "@keelson/protocol";
import type { ClientSdk } from "../load-sdk.ts";

export function unauthorized(server: string, reason: McpUnauthorizedReason, problem: string): McpError {
  return new McpError({ kind: "unauthorized", server, reason, message: `The server "${server}" can't be used: ${problem}` });
}

/** @param why it has to be done, as in "nobody has logged in yet" */
export function loginNeeded(server: string, why: string, reason: "login-needed" | "scope-needed" = "login-needed"): McpError {
  return unauthorized(server, reason, `${why}. Log in with \`keelson mcp login ${server}\`, or \`login("${server}")\` of the manager.`);
}

/** A failure on its way through the SDK, which lets only errors of this type pass everywhere. */
export class FailedRequest extends TypeError {
  constructor(failure: McpError) {
    super(failure.message, { cause: failure });
  }
}

/** The error of ours that another was made of, however deep it is in there. */
export function causedBy(error: unknown): McpError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) if (McpError.is(at)) return at;
  return undefined;
}

/**
 * What went wrong with an authorization server, in words of ours. What it said is not repeated, nor kept as the cause: it may hold what was sent to it.
 * @param doing what was asked of it, as in "registering"
 */
export function authorizationFailed(sdk: ClientSdk, server: string, doing: string, error: unknown): McpError {
  const ours = causedBy(error);
  if (ours !== undefined) return ours;
  if (error instanceof sdk.OAuthError)
    return unauthorized(server, "refused", `at ${doing} its authorization server responded with ${codeOf(error)}.`);
  if (error instanceof sdk.RegistrationRejectedError) {
    const advice = "Register a client there and give its id as `oauth.clientId`";
    return unauthorized(server, "no-registration", `its authorization server refused to register us (status ${error.status}). ${advice}.`);
  }
  if (error instanceof sdk.IssuerMismatchError || error instanceof sdk.AuthorizationServerMismatchError)
    return unauthorized(server, "wrong-issuer", `at ${doing} another authorization server responded than the one that was asked.`);
  return new McpError({
    kind: "protocol",
    server,
    message: `The server "${server}" can't be used: at ${doing} its authorization server sent what is not by the standard.`,
  });
}

/** A word of the standard; anything else could be text with what was sent. */
function codeOf({ code }: { readonly code: unknown }): string {
  return typeof code === "string" && /^[a-z_]{1,40}$/.test(code) ? code : "an error";
}
