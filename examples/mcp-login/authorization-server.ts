// An authorization server as small as it can be, for one resource: whoever comes agrees at once. Yours is a product, or a service.
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface AuthorizationServer extends AsyncDisposable {
  readonly issuer: string;
  /** Whether it gave this token. */
  knows(token: string): boolean;
}

export async function startAuthorizationServer(): Promise<AuthorizationServer> {
  const challenges = new Map<string, string>();
  const tokens = new Set<string>();
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? "/", issuer);
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const json = (status: number, value: object): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    switch (pathname) {
      case "/.well-known/oauth-authorization-server":
        return json(200, {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          registration_endpoint: `${issuer}/register`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"],
        });
      case "/register":
        return json(201, { ...(JSON.parse(body) as object), client_id: randomUUID() });
      case "/authorize": {
        const code = randomUUID();
        challenges.set(code, query.get("code_challenge") ?? "");
        const back = new URL(query.get("redirect_uri") ?? "");
        back.searchParams.set("code", code);
        back.searchParams.set("state", query.get("state") ?? "");
        return void response.writeHead(302, { location: back.href }).end();
      }
      case "/token": {
        const form = new URLSearchParams(body);
        const proof = createHash("sha256")
          .update(form.get("code_verifier") ?? "")
          .digest("base64url");
        if (challenges.get(form.get("code") ?? "") !== proof) return json(400, { error: "invalid_grant" });
        const token = randomUUID();
        tokens.add(token);
        return json(200, { access_token: token, token_type: "Bearer" });
      }
      default:
        return json(404, {});
    }
  }

  return {
    issuer,
    knows: (token) => tokens.has(token),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
