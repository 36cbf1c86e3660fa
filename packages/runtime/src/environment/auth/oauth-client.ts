import { EnvironmentError, ModelError } from "@keelson/protocol";
import { createTransport, readTextUpTo, type TransportOptions } from "../../transport/index.ts";
import { isPlainHttpElsewhere } from "../secrets/plain-http.ts";

export interface OAuthClientOptions {
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Of a confidential client. A function may resolve a reference. */
  readonly clientSecret?: string | (() => Promise<string>) | undefined;
  /** How the secret is sent. Default `basic`. */
  readonly clientAuthentication?: "basic" | "post" | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** What the token is for (RFC 8707), as in the address of an MCP server. */
  readonly resource?: string | undefined;
  readonly connection?: TransportOptions | undefined;
}

/** What an authorisation server gives (RFC 6749, 5.1). */
export interface OAuthTokens {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Unix ms; absent when the server doesn't say. */
  readonly expiresAt?: number;
}

/** What it says instead (RFC 6749, 5.2): a word of the standard, never its description, which may repeat what was sent. */
export class OAuthRefusal extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`The authorisation server responded with ${code}`);
    this.code = code;
  }
}

export interface OAuthClient {
  requestTokens(form: Form, now: number, signal: AbortSignal): Promise<OAuthTokens>;
  post(url: string, form: Form, signal: AbortSignal): Promise<{ readonly [name: string]: unknown }>;
}

export type Form = { readonly [name: string]: string | undefined };

const MAX_RESPONSE_BYTES = 256 * 1024;

export function createOAuthClient(options: OAuthClientOptions): OAuthClient {
  const { tokenUrl, clientId, clientSecret, clientAuthentication = "basic", resource } = options;
  const transport = createTransport(options.connection);

  const post: OAuthClient["post"] = async (url, form, signal) => {
    requireSafe(url);
    const secret = typeof clientSecret === "function" ? await clientSecret() : clientSecret;
    const isBasic = secret !== undefined && clientAuthentication === "basic";
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...form, ...(!isBasic && { client_id: clientId, client_secret: secret }) }))
      if (value !== undefined) body.set(name, value);
    const headers = {
      "accept": "application/json",
      "content-type": "application/x-www-form-urlencoded",
      ...(isBasic && { authorization: `Basic ${Buffer.from(`${formEncoded(clientId)}:${formEncoded(secret)}`).toString("base64")}` }),
    };
    let status: number;
    let text: string;
    try {
      const response = await transport.send({
        method: "POST",
        url,
        headers,
        body: [Buffer.from(body.toString())],
        signal,
        resendLost: () => false,
      });
      ({ status } = response);
      text = await readTextUpTo(response.body, MAX_RESPONSE_BYTES);
    } catch (error) {
      if (signal.aborted || !ModelError.is(error)) throw error;
      throw new OAuthRefusal("no response");
    }
    const data = parsed(text);
    if (status === 200 && data !== undefined) return data;
    const code = data?.["error"];
    throw new OAuthRefusal(typeof code === "string" && /^[a-z_]{1,40}$/.test(code) ? code : `status ${status}`);
  };

  return {
    post,
    async requestTokens(form, now, signal) {
      const {
        access_token: accessToken,
        refresh_token: refreshToken,
        expires_in: seconds,
        token_type: type,
      } = await post(tokenUrl, { ...form, resource }, signal);
      if (typeof accessToken !== "string" || accessToken === "") throw new OAuthRefusal("no access token");
      if (typeof type === "string" && type.toLowerCase() !== "bearer") throw new OAuthRefusal("a token that is no bearer token");
      return {
        accessToken,
        ...(typeof refreshToken === "string" && { refreshToken }),
        ...(typeof seconds === "number" && { expiresAt: now + seconds * 1000 }),
      };
    },
  };
}

/** What an authorisation server said no to, as an error for those who asked for a token. */
export function authorisationFailed(clientId: string, problem: string): EnvironmentError {
  return new EnvironmentError({
    kind: "credential-failed",
    credential: clientId,
    message: `There is no token for the client "${clientId}": ${problem}`,
  });
}

export function requireSafe(url: string): void {
  if (!URL.canParse(url))
    throw new EnvironmentError({
      kind: "credential-failed",
      credential: "oauth",
      message: "The address of the authorisation server is no URL.",
    });
  if (isPlainHttpElsewhere(new URL(url)))
    throw new EnvironmentError({
      kind: "credential-failed",
      credential: "oauth",
      message: `${new URL(url).origin} is plain HTTP, which anybody on the way can read: use https.`,
    });
}

/** RFC 6749, 2.3.1: both parts are encoded as forms are, before they are joined. */
function formEncoded(text: string): string {
  return new URLSearchParams({ x: text }).toString().slice(2);
}

function parsed(text: string): { readonly [name: string]: unknown } | undefined {
  try {
    const data = JSON.parse(text) as unknown;
    return typeof data === "object" && data !== null ? (data as { readonly [name: string]: unknown }) : undefined;
  } catch {
    return undefined;
  }
}
