import type { ClientSdk } from "../load-sdk.ts";
import type { Challenge } from "./discover.ts";
import { authorizationFailed } from "./failures.ts";
import type { OAuthFetch } from "./oauth-fetch.ts";

/** What the server says when somebody comes without a token. */
export async function findChallenge(sdk: ClientSdk, server: string, serverUrl: URL, oauth: OAuthFetch): Promise<Challenge> {
  try {
    const response = await oauth.fetch(serverUrl, {
      method: "POST",
      headers: { "content-type": "application/json", "accept": "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "ping" }),
    });
    return response.status === 401 ? challengeOf(sdk, response) : {};
  } catch (error) {
    throw authorizationFailed(sdk, server, "asking how to log in", error);
  }
}

export function challengeOf(sdk: ClientSdk, response: Response): Challenge {
  const { resourceMetadataUrl, scope } = sdk.extractWWWAuthenticateParams(response);
  return { ...(resourceMetadataUrl !== undefined && { metadataUrl: resourceMetadataUrl.href }), ...(scope !== undefined && { scope }) };
}
