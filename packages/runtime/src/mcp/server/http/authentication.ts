import { nodeCrypto } from "../../../platform/node-crypto.ts";

/** Who a client is, by what it showed. */
export interface McpPrincipal {
  /** Names it in what the server keeps; sessions belong to it. */
  readonly id: string;
  readonly scopes?: readonly string[] | undefined;
  /** Unix ms after which what it showed is worth nothing. */
  readonly expiresAt?: number | undefined;
}

/** What is known of a request before its body is read. */
export interface McpHttpHead {
  readonly method: string;
  readonly url: string;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
}

/** A token that clients must show as `Authorization: Bearer …`, or a function that says who shows one; `undefined` refuses it. */
export type McpAuthenticate = string | ((token: string, head: McpHttpHead) => McpPrincipal | undefined | Promise<McpPrincipal | undefined>);

/** Where clients get tokens, told as RFC 9728 has it. */
export interface McpProtectedResource {
  /** Addresses of the servers that give out tokens. */
  readonly authorizationServers: readonly string[];
  /** The address under which clients know this server. Default: where it listens. */
  readonly resource?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
}

/** Why a request is not let in; `error` as RFC 6750 names it. */
export interface Refusal {
  readonly status: 401 | 403;
  readonly error?: "invalid_token" | "insufficient_scope";
  readonly message: string;
}

/** Of a shared token all clients are one. */
const SHARED: McpPrincipal = { id: "token" };

export async function authenticate(
  how: McpAuthenticate,
  head: McpHttpHead,
  options: { readonly now: number; readonly scopes: readonly string[] },
): Promise<McpPrincipal | Refusal> {
  const header = head.headers["authorization"];
  const token = typeof header === "string" ? /^Bearer +([\w.~+/=-]+) *$/i.exec(header)?.[1] : undefined;
  if (token === undefined) return { status: 401, message: "Show a token: Authorization: Bearer …" };
  const principal = typeof how === "string" ? sameToken(how, token) : await how(token, head);
  if (principal === undefined || (principal.expiresAt ?? Number.POSITIVE_INFINITY) <= options.now)
    return { status: 401, error: "invalid_token", message: "The token is not known here, or not valid any more." };
  const missing = options.scopes.filter((scope) => typeof how !== "string" && !(principal.scopes ?? []).includes(scope));
  if (missing.length > 0) return { status: 403, error: "insufficient_scope", message: `The token lacks the scopes ${missing.join(" ")}.` };
  return principal;
}

/** Compared in a time that tells nothing of where they differ; digests are of one length, so that not even that of the token shows. */
function sameToken(wanted: string, given: string): McpPrincipal | undefined {
  const { hash, timingSafeEqual } = nodeCrypto();
  return timingSafeEqual(hash("sha256", wanted, "buffer"), hash("sha256", given, "buffer")) ? SHARED : undefined;
}

export function isRefusal(result: McpPrincipal | Refusal): result is Refusal {
  return "status" in result;
}

/** What a client that was refused is told to do. */
export function challenge(
  { error, message }: Refusal,
  options: { readonly metadata?: string | undefined; readonly scopes: readonly string[] },
): string {
  const parts = [
    ...(error === undefined ? [] : [`error="${error}"`, `error_description="${message}"`]),
    ...(options.scopes.length === 0 ? [] : [`scope="${options.scopes.join(" ")}"`]),
    ...(options.metadata === undefined ? [] : [`resource_metadata="${options.metadata}"`]),
  ];
  return parts.length === 0 ? "Bearer" : `Bearer ${parts.join(", ")}`;
}

export const METADATA_PATH = "/.well-known/oauth-protected-resource";

export function resourceMetadata(given: McpProtectedResource, resource: string): string {
  const { authorizationServers, scopes } = given;
  return JSON.stringify({
    resource: given.resource ?? resource,
    authorization_servers: authorizationServers,
    bearer_methods_supported: ["header"],
    ...(scopes !== undefined && { scopes_supported: scopes }),
  });
}
