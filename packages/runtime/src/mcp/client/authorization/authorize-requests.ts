import type { AuthProvider } from "@modelcontextprotocol/client";
import type { Fetch } from "../bounded-fetch.ts";
import type { ClientSdk } from "../load-sdk.ts";
import { challengeOf } from "./find-challenge.ts";
import type { ServerAuthorization } from "./server-authorization.ts";

/** What a transport of the SDK needs to send tokens along, and to send a request again with another where the server wants that. */
export function authorizeRequests(
  sdk: ClientSdk,
  authorization: ServerAuthorization,
  fetch: Fetch,
): { readonly fetch: Fetch; readonly authProvider: AuthProvider } {
  /** Which token a response is to: many requests with one token may be refused at once, and another is got once. */
  const sent = new WeakMap<Response, string>();
  return {
    authProvider: {
      token: () => authorization.token(),
      onUnauthorized: ({ response }) => authorization.renew(sent.get(response), challengeOf(sdk, response)),
    },
    async fetch(url, init) {
      const headers = new Headers(init?.headers);
      const token = /^Bearer (.*)$/.exec(headers.get("authorization") ?? "")?.[1];
      const response = await fetch(url, init);
      if (token !== undefined) sent.set(response, token);
      if (response.status !== 403 || sdk.extractWWWAuthenticateParams(response).error !== "insufficient_scope") return response;
      await response.body?.cancel();
      await authorization.widen(token, challengeOf(sdk, response));
      headers.set("authorization", `Bearer ${await authorization.token()}`);
      return fetch(url, { ...init, headers });
    },
  };
}
