import { checkOptionNames } from "../../json/option-names.ts";
import { nodeCrypto } from "../../platform/node-crypto.ts";
import type { CredentialProvider } from "./credential-provider.ts";
import { openLoopbackRedirect } from "./loopback-redirect.ts";
import { authorisationFailed, requireSafe } from "./oauth-client.ts";
import { createOAuthCredentials, OAUTH_OPTIONS, type OAuthOptions } from "./oauth-credentials.ts";

export interface AuthorizationCodeOptions extends OAuthOptions {
  readonly authorizationUrl: string;
  /** Opens the address in the person's browser, or shows it. */
  readonly open: (url: string) => unknown;
  /** The server's name; a response of another is refused (RFC 9207). */
  readonly issuer?: string | undefined;
  /** Of the address on 127.0.0.1 that the browser comes back to. Default: one that is free. */
  readonly redirectPort?: number | undefined;
  /** How long the person has. Default 300,000. */
  readonly timeoutMs?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 300_000;

/** Tokens for a person who agrees in a browser on this machine: an authorisation code with PKCE (RFC 7636) over a loopback redirect (RFC 8252). */
export function createAuthorizationCodeCredentials(options: AuthorizationCodeOptions): CredentialProvider {
  checkOptionNames("createAuthorizationCodeCredentials", options, {
    ...OAUTH_OPTIONS,
    authorizationUrl: true,
    open: true,
    issuer: true,
    redirectPort: true,
    timeoutMs: true,
  });
  const { authorizationUrl, clientId, scopes, resource, open, issuer, redirectPort = 0, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  return createOAuthCredentials(options, async (client, { clock, signal }) => {
    requireSafe(authorizationUrl);
    const { createHash, randomBytes } = nodeCrypto();
    const [state, verifier] = [randomBytes(24).toString("base64url"), randomBytes(48).toString("base64url")];
    await using redirect = await openLoopbackRedirect({ port: redirectPort, state });
    const url = new URL(authorizationUrl);
    const query = {
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirect.uri,
      scope: scopes?.join(" "),
      state,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      resource,
    };
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
    await open(url.href);
    const late = (): Error => authorisationFailed(clientId, `nobody agreed within ${timeoutMs} ms. Ask again.`);
    const { searchParams } = await redirect.visit({ clock, timeoutMs, signal, late });
    const code = readCode(searchParams, issuer, clientId);
    return await client.requestTokens(
      { grant_type: "authorization_code", code, redirect_uri: redirect.uri, code_verifier: verifier },
      clock.now(),
      signal,
    );
  });
}

/** @throws EnvironmentError where the response is of another server, or a refusal */
function readCode(response: URLSearchParams, issuer: string | undefined, clientId: string): string {
  if (issuer !== undefined && response.get("iss") !== issuer)
    throw authorisationFailed(clientId, "another authorisation server responded.");
  const [code, error] = [response.get("code"), response.get("error")];
  if (code !== null && error === null) return code;
  const said = error !== null && /^[a-z_]{1,40}$/.test(error) ? error : "no code";
  throw authorisationFailed(clientId, `the authorisation server responded with ${said}.`);
}
