import type { OptionNames } from "../../json/option-names.ts";
import { EnvironmentError } from "@keelson/protocol";
import { type Clock, systemClock } from "../../platform/clock.ts";
import { createSharedWork } from "../secrets/shared-work.ts";
import { CREDENTIAL_METHODS, type CredentialProvider } from "./credential-provider.ts";
import {
  authorisationFailed,
  createOAuthClient,
  type OAuthClient,
  type OAuthClientOptions,
  OAuthRefusal,
  type OAuthTokens,
} from "./oauth-client.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";

/** Keeps tokens between processes: sealed, as in a `createSealedFolder`. */
export interface TokenStore {
  load(): Promise<OAuthTokens | undefined>;
  save(tokens: OAuthTokens | undefined): Promise<void>;
}

export interface OAuthOptions extends OAuthClientOptions {
  readonly store?: TokenStore | undefined;
  readonly clock?: Clock | undefined;
}

/** The names that all kinds have. */
export const OAUTH_OPTIONS: OptionNames<OAuthOptions> = {
  tokenUrl: true,
  clientId: true,
  clientSecret: true,
  clientAuthentication: true,
  scopes: true,
  resource: true,
  connection: true,
  store: true,
  clock: true,
};

/** Gets tokens for the first time, or when they can't be refreshed. Rejects with `OAuthRefusal` for a no of the server. */
export type ObtainTokens = (client: OAuthClient, terms: { readonly clock: Clock; readonly signal: AbortSignal }) => Promise<OAuthTokens>;

/** A token is replaced this long before it expires: a request is on its way for some time. */
const EARLY_MS = 60_000;

/** Keeps tokens, refreshes them once for all who ask, and starts over when they can't be refreshed. It shows none of them. */
export function createOAuthCredentials(options: OAuthOptions, obtain: ObtainTokens): CredentialProvider {
  const { clientId, clock = systemClock, store } = options;
  const client = createOAuthClient(options);
  const shared = createSharedWork<OAuthTokens>();
  let held: OAuthTokens | undefined;
  let isLoaded = store === undefined;

  const holds = (tokens: OAuthTokens | undefined): tokens is OAuthTokens =>
    tokens !== undefined && tokens.accessToken !== "" && (tokens.expiresAt === undefined || tokens.expiresAt - EARLY_MS > clock.now());

  const keep = async (tokens: OAuthTokens): Promise<OAuthTokens> => {
    held = tokens;
    await store?.save(tokens);
    return tokens;
  };

  const refreshed = async (refreshToken: string, signal: AbortSignal): Promise<OAuthTokens | undefined> => {
    try {
      const tokens = await client.requestTokens({ grant_type: "refresh_token", refresh_token: refreshToken }, clock.now(), signal);
      // A server that rotates gives another; one that doesn't leaves the old one valid.
      return { refreshToken, ...tokens };
    } catch (error) {
      if (!(error instanceof OAuthRefusal) || error.code !== "invalid_grant") throw error;
      // Another process may have used up the refresh token, and kept what it got for it.
      const kept = await store?.load();
      return holds(kept) && kept.refreshToken !== refreshToken ? kept : undefined;
    }
  };

  const renew = async (signal: AbortSignal): Promise<OAuthTokens> => {
    try {
      if (!isLoaded) {
        held ??= await store?.load();
        isLoaded = true;
        if (holds(held)) return held;
      }
      const again = held?.refreshToken === undefined ? undefined : await refreshed(held.refreshToken, signal);
      return await keep(again ?? (await obtain(client, { clock, signal })));
    } catch (error) {
      if (error instanceof OAuthRefusal) throw authorisationFailed(clientId, `the authorisation server responded with ${error.code}.`);
      throw error;
    }
  };

  const current = async (signal: AbortSignal | undefined): Promise<OAuthTokens> =>
    holds(held) ? held : shared.run("token", signal, renew);

  const credentials: CredentialProvider = {
    async token({ signal } = {}) {
      return (await current(signal)).accessToken;
    },
    async headers({ signal } = {}) {
      const { accessToken } = await current(signal);
      if (/[^\x21-\x7e]/.test(accessToken))
        throw new EnvironmentError({
          kind: "credential-failed",
          credential: clientId,
          message: `The token for the client "${clientId}" can't stand in a header.`,
        });
      return { authorization: `Bearer ${accessToken}` };
    },
    refused(token) {
      if (held?.accessToken === token) held = { ...held, expiresAt: 0 };
    },
  };
  return checkMethodOptions("credentials", credentials, CREDENTIAL_METHODS);
}
