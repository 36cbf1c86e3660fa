import { checkOptionNames } from "../../json/option-names.ts";
import type { Clock } from "../../platform/clock.ts";
import type { CredentialProvider } from "./credential-provider.ts";
import { authorisationFailed, OAuthRefusal } from "./oauth-client.ts";
import { createOAuthCredentials, OAUTH_OPTIONS, type OAuthOptions } from "./oauth-credentials.ts";

/** What a person is shown: open the address on any device, and enter the code. */
export interface DevicePrompt {
  readonly userCode: string;
  readonly verificationUri: string;
  /** With the code in it. */
  readonly verificationUriComplete?: string;
  readonly expiresAt: number;
}

export interface DeviceCodeOptions extends OAuthOptions {
  readonly deviceAuthorizationUrl: string;
  readonly prompt: (prompt: DevicePrompt) => void;
}

const DEFAULT_INTERVAL_S = 5;
const SLOWER_S = 5;

/** Tokens for a person who agrees on another device (RFC 8628). */
export function createDeviceCodeCredentials(options: DeviceCodeOptions): CredentialProvider {
  checkOptionNames("createDeviceCodeCredentials", options, { ...OAUTH_OPTIONS, deviceAuthorizationUrl: true, prompt: true });
  const { deviceAuthorizationUrl, prompt, scopes, resource, clientId } = options;
  return createOAuthCredentials(options, async (client, { clock, signal }) => {
    const started = await client.post(deviceAuthorizationUrl, { scope: scopes?.join(" "), resource }, signal);
    const {
      device_code: code,
      user_code: userCode,
      verification_uri: verificationUri,
      verification_uri_complete: complete,
      expires_in: lifetime,
    } = started;
    if (typeof code !== "string" || typeof userCode !== "string" || typeof verificationUri !== "string")
      throw new OAuthRefusal("no device code");
    const expiresAt = clock.now() + (typeof lifetime === "number" ? lifetime : 900) * 1000;
    prompt({ userCode, verificationUri, ...(typeof complete === "string" && { verificationUriComplete: complete }), expiresAt });
    let interval = typeof started["interval"] === "number" ? started["interval"] : DEFAULT_INTERVAL_S;
    for (;;) {
      await waited(clock, interval * 1000, signal);
      if (clock.now() >= expiresAt) throw authorisationFailed(clientId, "nobody entered the code in time. Ask again for a new one.");
      try {
        return await client.requestTokens(
          { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: code },
          clock.now(),
          signal,
        );
      } catch (error) {
        if (!(error instanceof OAuthRefusal)) throw error;
        // Asked too often, it wants more time between; a lost connection says as much (RFC 8628, 3.5).
        if (error.code === "slow_down" || error.code === "no response") interval += SLOWER_S;
        else if (error.code !== "authorization_pending") throw error;
      }
    }
  });
}

async function waited(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const cancel = clock.after(ms, resolve);
  try {
    await promise;
  } finally {
    cancel();
    signal.removeEventListener("abort", onAbort);
  }
}
