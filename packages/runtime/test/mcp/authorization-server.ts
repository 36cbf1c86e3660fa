import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { readBody, serve } from "./http-servers.ts";

export interface Grant {
  readonly client: string;
  readonly scope: string;
  readonly resource: string;
}

interface Code extends Grant {
  readonly challenge: string;
  readonly redirectUri: string;
}

export type Interceptor = (request: IncomingMessage, response: ServerResponse, body: string) => boolean | Promise<boolean>;

/**
 * An authorization server by OAuth 2.1, RFC 7591, 7636, 8414, 8707 and 9207, as far as it is asked here. People agree at once. Refresh tokens work
 * once; where one comes a second time, all that was made of it is worth nothing.
 */
export interface AuthorizationServer extends AsyncDisposable {
  readonly issuer: string;
  /** What was asked, as "POST /token refresh_token". */
  readonly asked: string[];
  /** What it gave that nobody else must see. */
  readonly secrets: string[];
  readonly clients: ReadonlyMap<string, { readonly secret?: string }>;
  /** Adds a client that is known from before. */
  know(id: string, secret: string): void;
  /** Who may do what with a token, as a server asks; nothing of one that is over. */
  grantOf(token: string): Grant | undefined;
  /** Gives a token, as a token endpoint does. */
  give(grant: Grant): object;
  /** Takes all refresh tokens back. */
  revoke(): void;
  /** Access tokens that were given until now are over. */
  expire(): void;
  /** What it says of itself, changed. */
  metadata: { readonly [name: string]: unknown };
  /** What comes back with a person, changed. */
  redirect: { readonly [name: string]: string | undefined };
  expiresIn: number | undefined;
  /** Answers in its place where it gives true. */
  intercept: Interceptor | undefined;
}

export async function serveAuthorization(): Promise<AuthorizationServer> {
  const codes = new Map<string, Code>();
  const access = new Map<string, Grant>();
  const refresh = new Map<string, Grant>();
  const used = new Set<string>();
  const clients = new Map<string, { readonly secret?: string }>();

  const secret = (kind: string): string => {
    const value = `${kind}-${randomBytes(12).toString("hex")}`;
    self.secrets.push(value);
    return value;
  };
  const give = (grant: Grant, isRenewable: boolean): object => {
    const token = secret("access");
    access.set(token, grant);
    const renewal = isRenewable ? secret("refresh") : undefined;
    if (renewal !== undefined) refresh.set(renewal, grant);
    return {
      access_token: token,
      token_type: "Bearer",
      scope: grant.scope,
      ...(self.expiresIn !== undefined && { expires_in: self.expiresIn }),
      ...(renewal !== undefined && { refresh_token: renewal }),
    };
  };

  const token = (request: IncomingMessage, form: URLSearchParams): readonly [number, object] => {
    const refuse = (error: string): readonly [number, object] => [400, { error, error_description: `${form.toString()} was refused` }];
    const [basicId, basicSecret] = Buffer.from(request.headers.authorization?.slice(6) ?? "", "base64")
      .toString()
      .split(":");
    const id = form.get("client_id") ?? basicId ?? "";
    const client = clients.get(id);
    if (client === undefined || (client.secret !== undefined && client.secret !== (basicSecret ?? form.get("client_secret"))))
      return refuse("invalid_client");
    const resource = form.get("resource") ?? "";
    if (form.get("grant_type") === "client_credentials")
      return [200, give({ client: id, scope: form.get("scope") ?? "", resource }, false)];
    if (form.get("grant_type") === "refresh_token") {
      const renewal = form.get("refresh_token") ?? "";
      const grant = refresh.get(renewal);
      if (used.has(renewal)) self.revoke();
      used.add(renewal);
      refresh.delete(renewal);
      return grant === undefined || grant.client !== id || grant.resource !== resource ? refuse("invalid_grant") : [200, give(grant, true)];
    }
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isRight =
      code?.client === id && code.challenge === challenge && code.redirectUri === form.get("redirect_uri") && code.resource === resource;
    return isRight ? [200, give({ client: id, scope: code.scope, resource }, true)] : refuse("invalid_grant");
  };

  const authorize = (query: URLSearchParams): string => {
    const code = secret("code");
    const of = (name: string): string => query.get(name) ?? "";
    if (!clients.has(of("client_id")) || of("code_challenge_method") !== "S256") throw new Error("no such client, or no PKCE");
    codes.set(code, {
      client: of("client_id"),
      scope: of("scope"),
      resource: of("resource"),
      challenge: of("code_challenge"),
      redirectUri: of("redirect_uri"),
    });
    const back = new URL(of("redirect_uri"));
    for (const [name, value] of Object.entries({ code, state: of("state"), iss: self.issuer, ...self.redirect }))
      if (value !== undefined) back.searchParams.set(name, value);
    return back.href;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", self.issuer);
    const body = await readBody(request);
    const form = new URLSearchParams(body);
    self.asked.push([request.method, url.pathname, ...form.getAll("grant_type")].join(" "));
    if ((await self.intercept?.(request, response, body)) === true) return;
    const json = (status: number, value: object): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (url.pathname === "/.well-known/oauth-authorization-server") return json(200, self.metadata);
    if (url.pathname === "/register") {
      const id = `client-${clients.size}`;
      clients.set(id, {});
      return json(201, { ...(JSON.parse(body) as object), client_id: id });
    }
    if (url.pathname === "/authorize") return void response.writeHead(302, { location: authorize(url.searchParams) }).end();
    if (url.pathname === "/token") return json(...token(request, form));
    return json(404, {});
  };

  const http = await serve(answer);
  const issuer = new URL(http.url).origin;
  const self: AuthorizationServer = {
    issuer,
    asked: [],
    secrets: [],
    clients,
    know(id, known) {
      clients.set(id, { secret: known });
      self.secrets.push(known);
    },
    give: (grant) => give(grant, false),
    grantOf: (given) => access.get(given),
    revoke: () => refresh.clear(),
    expire: () => access.clear(),
    metadata: {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      registration_endpoint: `${issuer}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
      authorization_response_iss_parameter_supported: true,
    },
    redirect: {},
    expiresIn: 3600,
    intercept: undefined,
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
  return self;
}
