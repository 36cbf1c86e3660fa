import type { IncomingMessage, ServerResponse } from "node:http";
import { createMcpHandler } from "@modelcontextprotocol/server";
import type { AuthorizationServer, Interceptor } from "./authorization-server.ts";
import { answerWith, type HttpServer, readBody, serve } from "./http-servers.ts";
import { createSdkServer } from "./sdk-server.ts";

/** A server of the SDK that lets nobody in without a token of the authorization server that is for it (RFC 6750, RFC 9728). */
export interface ProtectedServer extends HttpServer {
  /** What it says of itself, changed. */
  metadata: { readonly [name: string]: unknown };
  /** What each call needs. */
  scope: string;
  /** What calls of tools need beyond that. */
  toolScope: string | undefined;
  intercept: Interceptor | undefined;
}

/** @param answer what it does with those whom it lets in. Default: the server of the SDK over Streamable HTTP */
export async function serveProtected(
  authorization: AuthorizationServer,
  answer?: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<ProtectedServer> {
  const handler = createMcpHandler(() => createSdkServer());
  const http = await serve(async (request, response) => {
    const body = answer === undefined ? await readBody(request) : "";
    if ((await self.intercept?.(request, response, body)) === true) return;
    if (request.url?.startsWith("/.well-known/oauth-protected-resource") === true)
      return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(self.metadata));
    const metadataUrl = `${new URL(self.url).origin}/.well-known/oauth-protected-resource/mcp`;
    const challenge = (error: string, scope: string): string =>
      `Bearer error="${error}", scope="${scope}", resource_metadata="${metadataUrl}"`;
    const grant = authorization.grantOf(request.headers.authorization?.slice("Bearer ".length) ?? "");
    if (grant === undefined || grant.resource !== self.metadata["resource"])
      return void response.writeHead(401, { "www-authenticate": challenge("invalid_token", self.scope) }).end();
    const needed = body.includes('"tools/call"') ? self.toolScope : undefined;
    if (needed !== undefined && !grant.scope.split(" ").includes(needed))
      return void response.writeHead(403, { "www-authenticate": challenge("insufficient_scope", needed) }).end();
    if (answer !== undefined) return answer(request, response);
    await answerWith(handler, request, body, response);
  });
  const self: ProtectedServer = {
    ...http,
    metadata: { resource: http.url, authorization_servers: [authorization.issuer] },
    scope: "read",
    toolScope: undefined,
    intercept: undefined,
  };
  return self;
}
