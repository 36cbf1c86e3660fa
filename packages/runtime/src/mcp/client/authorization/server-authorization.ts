import type { McpOAuthGrant, McpOAuthSettings } from "@keelson/protocol";
import type { OAuthTokens } from "@modelcontextprotocol/client";
import type { Clock } from "../../../platform/clock.ts";
import type { ClientSdk } from "../load-sdk.ts";
import type { McpAuthorize } from "./authorize.ts";
import { type AuthorizationServer, type Challenge, discover, isSameIssuer } from "./discover.ts";
import { authorizationFailed, loginNeeded, unauthorized } from "./failures.ts";
import { findChallenge } from "./find-challenge.ts";
import { logIn } from "./log-in.ts";
import { machineGrant } from "./machine-grant.ts";
import type { OAuthFetch } from "./oauth-fetch.ts";
import { type HeldTokens, heldTokens, readRecord, recordName, type TokenRecord, writeRecord } from "./token-record.ts";
import type { McpTokenStore } from "./token-store.ts";

export interface ServerAuthorizationOptions {
  /** Name of the server. */
  readonly server: string;
  readonly load: () => Promise<ClientSdk>;
  /** Read when it is needed: it may name variables that are not set. */
  readonly serverUrl: () => URL;
  readonly grant: McpOAuthGrant | undefined;
  /** With secrets and variables resolved. */
  readonly settings: () => Promise<McpOAuthSettings>;
  readonly store: McpTokenStore;
  readonly oauthAt: (address: URL) => OAuthFetch;
  readonly clock: Clock;
}

/** The tokens of one server. Nothing here waits for a person, but `login`. All reject with `McpError`. */
export interface ServerAuthorization {
  /** One that holds, as far as is known here; `undefined` where there is none. */
  token(): Promise<string | undefined>;
  /** The server refused this token, or wants one. Afterwards there is another; those who ask at once share one request. */
  renew(refused: string | undefined, challenge: Challenge): Promise<void>;
  /** The server wants a token that allows more than this one. */
  widen(token: string | undefined, challenge: Challenge): Promise<void>;
  login(authorize: McpAuthorize | undefined, signal: AbortSignal): Promise<void>;
  logout(): Promise<void>;
}

export function createServerAuthorization(options: ServerAuthorizationOptions): ServerAuthorization {
  const { server, load, serverUrl, store, oauthAt, clock } = options;
  const isForPeople = (options.grant ?? "authorization-code") === "authorization-code";
  let held: TokenRecord | undefined;
  let renewing: Promise<void> | undefined;

  const name = (): Promise<string> => recordName(serverUrl());
  const read = async (): Promise<TokenRecord> => (held = isForPeople ? await readRecord(store, await name()) : (held ?? {}));
  const save = async (record: TokenRecord): Promise<void> => {
    held = record;
    // What is had without a person can be had again: it is not kept for longer than this process.
    if (isForPeople) await writeRecord(store, await name(), record);
  };
  const alone = async <T>(work: () => Promise<T>): Promise<T> =>
    store.exclusively === undefined ? work() : store.exclusively(await name(), work);
  const oauth = (): OAuthFetch => oauthAt(serverUrl());
  const find = (sdk: ClientSdk, { issuer }: McpOAuthSettings, challenge: Challenge): Promise<AuthorizationServer> =>
    discover({ sdk, server, serverUrl: serverUrl(), oauth: oauth(), challenge, issuer });

  /** @param asked as in `heldTokens` */
  const hold = (tokens: OAuthTokens, asked: { readonly scope?: string | undefined; readonly refresh?: string } = {}): HeldTokens => {
    const isUsable = tokens.token_type.toLowerCase() === "bearer" && /^[\x21-\x7e]+$/.test(tokens.access_token);
    if (!isUsable)
      throw unauthorized(server, "refused", "its authorization server gave a token that can't be sent along as a bearer token.");
    return heldTokens(tokens, clock.now(), asked);
  };

  const obtain = async (sdk: ClientSdk, settings: McpOAuthSettings, { challenge = {}, wider }: TokenRecord): Promise<void> => {
    const authorizationServer = await find(sdk, settings, challenge);
    const scope = sdk.computeScopeUnion(scopeOf(settings, challenge, authorizationServer), wider);
    const tokens = await machineGrant({ sdk, server, authorizationServer, oauth: oauth(), oauthAt, settings, scope });
    const { issuer } = authorizationServer;
    await save({ issuer, tokens: hold(tokens, { scope }), challenge, ...(wider !== undefined && { wider }) });
  };

  const refresh = async (sdk: ClientSdk, settings: McpOAuthSettings, record: TokenRecord): Promise<void> => {
    const { issuer, client, tokens, challenge = {} } = record;
    const refreshToken = tokens?.refresh;
    if (client === undefined || refreshToken === undefined) throw loginNeeded(server, "its token is over");
    const { url, issuer: named, metadata, resource } = await find(sdk, settings, challenge);
    const isSameClient = settings.clientId === undefined || settings.clientId === client.client_id;
    if (issuer === undefined || !isSameIssuer(issuer, named) || !isSameClient) {
      await save({ challenge });
      throw loginNeeded(server, "what you logged in to it with is of another authorization server, or of another client");
    }
    const secret = settings.clientSecret;
    const clientInformation = { ...client, ...(secret !== undefined && { client_secret: secret }) };
    try {
      const fetchFn = oauth().fetch;
      const fresh = await sdk.refreshAuthorization(url, { metadata, clientInformation, refreshToken, resource, fetchFn });
      await save({ ...record, tokens: hold(fresh, tokens) });
    } catch (error) {
      const code = error instanceof sdk.OAuthError ? error.code : undefined;
      const isClientGone = code === sdk.OAuthErrorCode.InvalidClient || code === sdk.OAuthErrorCode.UnauthorizedClient;
      if (code !== sdk.OAuthErrorCode.InvalidGrant && !isClientGone) throw authorizationFailed(sdk, server, "renewing a token", error);
      // Asking again with it won't help.
      await save(isClientGone ? { challenge } : { issuer, client, challenge });
      throw loginNeeded(server, "its authorization server took back what it gave");
    }
  };

  const renewOnce = async (refused: string | undefined, challenge: Challenge): Promise<void> => {
    const [sdk, settings] = [await load(), await options.settings()];
    await alone(async () => {
      const before = await read();
      // Another process may have got one.
      if (before.tokens !== undefined && before.tokens.access !== refused) return;
      const record = { ...before, challenge: { ...before.challenge, ...challenge } };
      if (!isForPeople) return obtain(sdk, settings, record);
      if (record.tokens !== undefined) return refresh(sdk, settings, record);
      await save(record);
      throw loginNeeded(server, "nobody has logged in to it");
    });
  };

  const renew: ServerAuthorization["renew"] = async (refused, challenge) => {
    if (held?.tokens !== undefined && held.tokens.access !== refused) return;
    renewing ??= renewOnce(refused, challenge).finally(() => (renewing = undefined));
    await renewing;
  };

  return {
    renew,
    async token() {
      const { tokens } = held?.tokens === undefined ? await read() : held;
      if (tokens?.renewAt === undefined || clock.now() < tokens.renewAt) return tokens?.access;
      await renew(tokens.access, {});
      return held?.tokens?.access;
    },
    async widen(refused, challenge) {
      if (held?.tokens !== undefined && held.tokens.access !== refused) return;
      const [sdk, settings] = [await load(), await options.settings()];
      const before = await read();
      const wider = sdk.computeScopeUnion(before.tokens?.scope, before.wider, challenge.scope);
      const record = {
        ...before,
        challenge: { ...before.challenge, ...challenge, ...optionalScope(before.challenge?.scope) },
        ...(wider !== undefined && { wider }),
      };
      if (!isForPeople) return obtain(sdk, settings, record);
      await save(record);
      const asked = printable(challenge.scope);
      throw loginNeeded(server, `it wants you to agree to more${asked === undefined ? "" : ` (${asked})`}`, "scope-needed");
    },
    async login(authorize, signal) {
      const [sdk, settings] = [await load(), await options.settings()];
      const record = await read();
      const challenge = await findChallenge(sdk, server, serverUrl(), oauth());
      if (!isForPeople) return obtain(sdk, settings, { ...record, challenge });
      if (authorize === undefined) throw loginNeeded(server, "this program has no way to ask a person (`authorize` of createMcpManager)");
      const authorizationServer = await find(sdk, settings, challenge);
      const scope = sdk.computeScopeUnion(scopeOf(settings, challenge, authorizationServer), record.wider);
      const asked = { sdk, server, authorizationServer, oauth: oauth(), authorize, settings, scope, signal };
      const { client, tokens } = await logIn(asked);
      const { issuer } = authorizationServer;
      await alone(() => save({ issuer, client, tokens: hold(tokens, { scope }), challenge }));
    },
    async logout() {
      held = undefined;
      await store.remove(await name());
    },
  };
}

const OFFLINE = "offline_access";

/** What is asked for: what the configuration says, what the server wanted, or else all that the server knows. */
function scopeOf({ grant, scope: configured }: McpOAuthSettings, challenge: Challenge, server: AuthorizationServer): string | undefined {
  const { scopes = [], metadata } = server;
  const scope = configured ?? challenge.scope ?? (scopes.length === 0 ? undefined : scopes.join(" "));
  const isForPeople = (grant ?? "authorization-code") === "authorization-code";
  if (scope === undefined || !isForPeople || scope.split(" ").includes(OFFLINE)) return scope;
  // Some give tokens that can be renewed only where this is asked for.
  return metadata.scopes_supported?.includes(OFFLINE) === true ? `${scope} ${OFFLINE}` : scope;
}

function optionalScope(scope: string | undefined): { readonly scope?: string } {
  return scope === undefined ? {} : { scope };
}

function printable(scope: string | undefined): string | undefined {
  return scope !== undefined && /^[\x21-\x7e ]{1,200}$/.test(scope) ? scope : undefined;
}
