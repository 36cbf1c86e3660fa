import type { McpServerConfig, SecretResolver } from "@keelson/protocol";
import type { Clock } from "../../../platform/clock.ts";
import type { ResolveHost } from "../../../transport/resolve-public.ts";
import type { Fetch } from "../bounded-fetch.ts";
import type { ClientSdk } from "../load-sdk.ts";
import { readUrl } from "../server-url.ts";
import { createOAuthFetch } from "./oauth-fetch.ts";
import { resolveOAuthSettings } from "./resolve-oauth-settings.ts";
import { createServerAuthorization, type ServerAuthorization } from "./server-authorization.ts";
import type { McpTokenStore } from "./token-store.ts";

export interface AuthorizationServices {
  readonly load: () => Promise<ClientSdk>;
  readonly variables: { readonly [name: string]: string | undefined };
  readonly secrets?: SecretResolver | undefined;
  readonly store: McpTokenStore;
  readonly fetch?: Fetch | undefined;
  readonly resolve?: ResolveHost | undefined;
  readonly clock: Clock;
}

/** Who gets tokens for a server: nobody, where it is not reached over HTTP, or where its configuration says what it is sent. */
export function manageAuthorization(
  server: string,
  config: McpServerConfig,
  { load, variables, secrets, store, fetch, resolve, clock }: AuthorizationServices,
): ServerAuthorization | undefined {
  if (config.type !== "http" && config.type !== "sse") return undefined;
  const { url, authToken, headers = {}, oauth = {} } = config;
  if (authToken !== undefined || Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) return undefined;
  return createServerAuthorization({
    server,
    load,
    grant: oauth.grant,
    serverUrl: () => readUrl(server, url, variables),
    settings: () => resolveOAuthSettings(oauth, { server, variables, secrets }),
    store,
    oauthAt: (address) => createOAuthFetch({ server, serverUrl: address, fetch, resolve, clock }),
    clock,
  });
}
