import { McpError } from "@keelson/protocol";
import type { AuthorizationServerMetadata } from "@modelcontextprotocol/client";
import type { ClientSdk } from "../load-sdk.ts";
import { authorizationFailed, unauthorized } from "./failures.ts";
import type { OAuthFetch } from "./oauth-fetch.ts";

/** What a server said when it let somebody not in. */
export interface Challenge {
  /** Where the server says who gives tokens for it. */
  readonly metadataUrl?: string;
  readonly scope?: string;
}

/** Who gives tokens for a server. */
export interface AuthorizationServer {
  readonly url: string;
  readonly issuer: string;
  readonly metadata: AuthorizationServerMetadata;
  /** What tokens are for, as it is told to the authorization server (RFC 8707). */
  readonly resource: string;
  /** What the server says that it needs tokens for. */
  readonly scopes?: readonly string[];
}

export interface DiscoverOptions {
  readonly sdk: ClientSdk;
  readonly server: string;
  readonly serverUrl: URL;
  readonly oauth: OAuthFetch;
  readonly challenge: Challenge;
  /** The one that the configuration names: no other is taken. */
  readonly issuer?: string | undefined;
}

/**
 * Finds who gives tokens for a server (RFC 9728, then RFC 8414 or OpenID Connect; where the server has no such metadata, its own host).
 * @throws McpError where it can't be found, or is not to be trusted
 */
export async function discover(options: DiscoverOptions): Promise<AuthorizationServer> {
  const { sdk, server, serverUrl, oauth, challenge } = options;
  const { metadataUrl } = challenge;
  try {
    const found = await sdk.discoverOAuthServerInfo(serverUrl, {
      ...(metadataUrl !== undefined && { resourceMetadataUrl: new URL(metadataUrl) }),
      fetchFn: oauth.fetch,
    });
    const { authorizationServerUrl: url, authorizationServerMetadata: metadata, resourceMetadata } = found;
    const own = sdk.resourceUrlFromServerUrl(serverUrl);
    if (metadataUrl !== undefined && resourceMetadata === undefined) throw noMetadata(server, serverUrl.host, "RFC 9728");
    if (resourceMetadata !== undefined && !isFor(sdk, own, resourceMetadata.resource))
      throw unauthorized(server, "wrong-resource", "its metadata is of another server.");
    if (metadata === undefined) throw noMetadata(server, new URL(url).host, "RFC 8414");
    if (options.issuer !== undefined && !isSameIssuer(options.issuer, metadata.issuer))
      throw unauthorized(server, "wrong-issuer", "it names another authorization server than `oauth.issuer` of its configuration does.");
    for (const endpoint of [metadata.authorization_endpoint, metadata.token_endpoint, metadata.registration_endpoint])
      if (endpoint !== undefined) await oauth.check(endpoint);
    const scopes = resourceMetadata?.scopes_supported;
    const resource = resourceMetadata?.resource ?? own.href;
    return { url, issuer: metadata.issuer, metadata, resource, ...(scopes !== undefined && { scopes }) };
  } catch (error) {
    throw authorizationFailed(sdk, server, "reading its metadata", error);
  }
}

/** A slash at the end makes no other issuer: addresses that are read and written again get one. */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, "") === other.replace(/\/$/, "");
}

function isFor(sdk: ClientSdk, requestedResource: URL, configuredResource: string): boolean {
  return URL.canParse(configuredResource) && sdk.checkResourceAllowed({ requestedResource, configuredResource });
}

function noMetadata(server: string, host: string, standard: string): McpError {
  const message = `The server "${server}" can't be used: ${host} does not say by the standard (${standard}) where and how tokens for it are to be had.`;
  return new McpError({ kind: "protocol", server, message });
}
