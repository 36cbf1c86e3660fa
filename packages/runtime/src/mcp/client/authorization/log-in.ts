import { McpError, type McpOAuthSettings } from "@keelson/protocol";
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/client";
import type { ClientSdk } from "../load-sdk.ts";
import type { McpAuthorize, McpRedirect } from "./authorize.ts";
import type { AuthorizationServer } from "./discover.ts";
import { authorizationFailed, unauthorized } from "./failures.ts";
import type { OAuthFetch } from "./oauth-fetch.ts";

export interface LoginOptions {
  readonly sdk: ClientSdk;
  readonly server: string;
  readonly authorizationServer: AuthorizationServer;
  readonly oauth: OAuthFetch;
  readonly authorize: McpAuthorize;
  /** With its secrets resolved. */
  readonly settings: McpOAuthSettings;
  readonly scope: string | undefined;
  readonly signal: AbortSignal;
}

export interface Login {
  readonly client: OAuthClientInformationMixed;
  readonly tokens: OAuthTokens;
}

/** Has a person log in: an authorization code with PKCE. @throws McpError */
export async function logIn(options: LoginOptions): Promise<Login> {
  const { sdk, server, authorizationServer, oauth, authorize, scope, signal } = options;
  const { url, metadata, resource } = authorizationServer;
  if (metadata.code_challenge_methods_supported?.includes("S256") !== true)
    throw unauthorized(server, "no-pkce", "its authorization server does not say that it knows PKCE with S256, so a code could be stolen.");
  const { randomBytes } = await import("node:crypto");
  const state = randomBytes(24).toString("base64url");
  const redirect = await authorize({ server, state, signal });
  try {
    const client = await clientAt(options, redirect.uri);
    const { authorizationUrl, codeVerifier } = await sdk
      .startAuthorization(url, {
        metadata,
        clientInformation: client,
        redirectUrl: redirect.uri,
        state,
        resource,
        ...(scope !== undefined && { scope }),
      })
      .catch((error: unknown) => Promise.reject(authorizationFailed(sdk, server, "beginning", error)));
    const response = await visit(redirect, authorizationUrl.href, options);
    const { code, iss } = readResponse(response, state, options);
    const tokens = await sdk
      .exchangeAuthorization(url, {
        metadata,
        clientInformation: client,
        authorizationCode: code,
        ...(iss !== undefined && { iss }),
        codeVerifier,
        redirectUri: redirect.uri,
        resource,
        fetchFn: oauth.fetch,
      })
      .catch((error: unknown) => Promise.reject(authorizationFailed(sdk, server, "giving a token", error)));
    return { client: withoutConfigured(client, options.settings), tokens };
  } finally {
    await redirect[Symbol.asyncDispose]?.();
  }
}

/** What the configuration says is not kept a second time. */
function withoutConfigured(client: OAuthClientInformationMixed, { clientId }: McpOAuthSettings): OAuthClientInformationMixed {
  return clientId === undefined ? client : { client_id: clientId };
}

/** As who we ask: the client of the configuration, by its document, or registered for this login, whose redirect no other may have. */
async function clientAt(options: LoginOptions, redirectUri: string): Promise<OAuthClientInformationMixed> {
  const { sdk, server, settings, authorizationServer, oauth, scope } = options;
  const { clientId, clientSecret, clientMetadataUrl } = settings;
  const { url, metadata } = authorizationServer;
  if (clientId !== undefined) return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
  if (clientMetadataUrl !== undefined && metadata.client_id_metadata_document_supported === true) return { client_id: clientMetadataUrl };
  if (metadata.registration_endpoint === undefined)
    throw unauthorized(
      server,
      "no-registration",
      "its authorization server registers nobody by itself. Register a client there and give its id as `oauth.clientId`.",
    );
  try {
    return await sdk.registerClient(url, {
      metadata,
      clientMetadata: {
        client_name: "Keelson",
        redirect_uris: [redirectUri],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        // A secret that each copy of a program gets for itself proves nothing.
        ...(metadata.token_endpoint_auth_methods_supported?.includes("none") === true && { token_endpoint_auth_method: "none" }),
        application_type: "native",
      },
      ...(scope !== undefined && { scope }),
      fetchFn: oauth.fetch,
    });
  } catch (error) {
    throw authorizationFailed(sdk, server, "registering us", error);
  }
}

async function visit(redirect: McpRedirect, address: string, { server, signal }: LoginOptions): Promise<URLSearchParams> {
  const { promise: cancelled, reject } = Promise.withResolvers<never>();
  const cancel = (): void =>
    reject(new McpError({ kind: "other", message: `The login to the server "${server}" was cancelled.` }, { cause: signal.reason }));
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    const came = await Promise.race([redirect.visit(address), cancelled]);
    return (URL.parse(came, redirect.uri) ?? new URL(redirect.uri)).searchParams;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

function readResponse(
  response: URLSearchParams,
  state: string,
  { sdk, server, authorizationServer: { metadata } }: LoginOptions,
): { readonly code: string; readonly iss: string | undefined } {
  if (response.get("state") !== state)
    throw unauthorized(server, "wrong-state", "the browser came back from another login than the one that was begun.");
  const iss = response.get("iss") ?? undefined;
  try {
    // Of a server that is not the one that was asked, nothing is believed, not even a refusal.
    const isPromised = metadata.authorization_response_iss_parameter_supported === true;
    sdk.validateAuthorizationResponseIssuer({ iss, expectedIssuer: metadata.issuer, issParameterSupported: isPromised });
  } catch (error) {
    throw authorizationFailed(sdk, server, "the login", error);
  }
  const [code, error] = [response.get("code"), response.get("error")];
  if (code !== null && error === null) return { code, iss };
  const said = error !== null && /^[a-z_]{1,40}$/.test(error) ? error : "no code";
  throw unauthorized(server, "refused", `at the login its authorization server responded with ${said}.`);
}
