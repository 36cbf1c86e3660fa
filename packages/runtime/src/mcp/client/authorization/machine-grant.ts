import type { McpOAuthSettings } from "@keelson/protocol";
import type { OAuthClientProvider, OAuthTokens } from "@modelcontextprotocol/client";
import type { ClientSdk } from "../load-sdk.ts";
import type { AuthorizationServer } from "./discover.ts";
import { authorizationFailed } from "./failures.ts";
import type { OAuthFetch } from "./oauth-fetch.ts";

export interface MachineGrantOptions {
  readonly sdk: ClientSdk;
  readonly server: string;
  readonly authorizationServer: AuthorizationServer;
  readonly oauth: OAuthFetch;
  /** What asks an address that the configuration names. */
  readonly oauthAt: (address: URL) => OAuthFetch;
  /** With its secrets resolved. */
  readonly settings: McpOAuthSettings;
  readonly scope: string | undefined;
}

/** Gets tokens without a person at hand. @throws McpError */
export async function machineGrant(options: MachineGrantOptions): Promise<OAuthTokens> {
  const { sdk, server, authorizationServer, oauth, scope } = options;
  const { url, issuer, metadata, resource } = authorizationServer;
  try {
    const provider = providerOf(options);
    await provider.saveAuthorizationServerUrl?.(issuer);
    await provider.saveResourceUrl?.(resource);
    return await sdk.fetchToken(provider, url, { metadata, resource, ...(scope !== undefined && { scope }), fetchFn: oauth.fetch });
  } catch (error) {
    throw authorizationFailed(sdk, server, "giving a token", error);
  }
}

function providerOf({ sdk, authorizationServer: { issuer }, settings, oauth, oauthAt }: MachineGrantOptions): OAuthClientProvider {
  const { clientId = "", clientSecret = "", privateKey, algorithm = "ES256", identityProvider } = settings;
  if (identityProvider !== undefined)
    return new sdk.CrossAppAccessProvider({
      clientId,
      clientSecret,
      expectedIssuer: issuer,
      fetchFn: oauth.fetch,
      async assertion({ authorizationServerUrl, resourceUrl, scope }) {
        const { tokenUrl, clientId: known, clientSecret: secret, idToken } = identityProvider;
        const granted = await sdk.requestJwtAuthorizationGrant({
          tokenEndpoint: tokenUrl,
          audience: authorizationServerUrl,
          resource: resourceUrl,
          idToken,
          clientId: known,
          ...(secret !== undefined && { clientSecret: secret }),
          ...(scope !== undefined && { scope }),
          fetchFn: oauthAt(new URL(tokenUrl)).fetch,
        });
        return granted.jwtAuthGrant;
      },
    });
  if (privateKey !== undefined) return new sdk.PrivateKeyJwtProvider({ clientId, privateKey, algorithm, expectedIssuer: issuer });
  return new sdk.ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer: issuer });
}
