import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/client";
import type { Challenge } from "./discover.ts";
import type { McpTokenStore } from "./token-store.ts";

/** What is kept of a server. All of it is of one authorization server: where the server names another, none of it is used. */
export interface TokenRecord {
  readonly issuer?: string;
  readonly client?: OAuthClientInformationMixed;
  readonly tokens?: HeldTokens;
  /** What the server said when it let nobody in. */
  readonly challenge?: Challenge;
  /** What it wanted people to agree to beyond that: the next login asks for it. */
  readonly wider?: string;
}

export interface HeldTokens {
  readonly access: string;
  readonly refresh?: string;
  readonly scope?: string;
  /** Unix ms from which on another is to be got. */
  readonly renewAt?: number;
}

const MAX_EARLY_MS = 60_000;

/**
 * A request is on its way for some time: tokens are renewed before they are over.
 * @param asked what holds where the server does not say otherwise: the scope that was asked for (RFC 6749, 5.1), and how it was asked for
 */
export function heldTokens(
  tokens: OAuthTokens,
  now: number,
  asked: { readonly scope?: string | undefined; readonly refresh?: string } = {},
): HeldTokens {
  const { access_token: access, refresh_token: refresh = asked.refresh, scope = asked.scope, expires_in: seconds } = tokens;
  const lifeMs = seconds === undefined ? undefined : seconds * 1000;
  return {
    access,
    ...(refresh !== undefined && { refresh }),
    ...(scope !== undefined && { scope }),
    ...(lifeMs !== undefined && { renewAt: now + lifeMs - Math.min(MAX_EARLY_MS, lifeMs / 10) }),
  };
}

/** The name of a server's record: its address, without what may be secret in it. */
export async function recordName(serverUrl: URL): Promise<string> {
  const { origin, pathname, search } = serverUrl;
  if (search === "") return `${origin}${pathname}`;
  const { createHash } = await import("node:crypto");
  return `${origin}${pathname}#${createHash("sha256").update(search).digest("hex").slice(0, 16)}`;
}

const VERSION = 1;

export async function readRecord(store: McpTokenStore, name: string): Promise<TokenRecord> {
  const text = await store.read(name);
  if (text === undefined) return {};
  try {
    const { v, ...record } = JSON.parse(text) as TokenRecord & { readonly v?: unknown };
    return v === VERSION ? record : {};
  } catch {
    // What can't be read is as good as nothing: a login replaces it.
    return {};
  }
}

export async function writeRecord(store: McpTokenStore, name: string, record: TokenRecord): Promise<void> {
  await store.write(name, JSON.stringify({ v: VERSION, ...record }));
}
