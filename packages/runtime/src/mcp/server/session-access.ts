import { shortHash } from "../../json/index.ts";
import type { McpRequest } from "./mcp-request.ts";
import type { McpServerOptions } from "./mcp-server-options.ts";

export type SessionAccess = Pick<McpServerOptions, "mayUseSession">;

/** What the ids of sessions begin with that a client began: who it was stands in them, so that any process knows. */
export function sessionPrefix({ principal }: Pick<McpRequest, "principal">): string {
  return principal === undefined ? "mcp-" : `mcp-${shortHash(principal, 16)}-`;
}

export async function mayUseSession(session: string, request: McpRequest, access: SessionAccess): Promise<boolean> {
  if (access.mayUseSession !== undefined) return (await access.mayUseSession(session, request)) === true;
  return request.principal === undefined || session.startsWith(sessionPrefix(request));
}
