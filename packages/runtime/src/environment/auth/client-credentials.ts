import { checkOptionNames } from "../../json/option-names.ts";
import type { CredentialProvider } from "./credential-provider.ts";
import { createOAuthCredentials, OAUTH_OPTIONS, type OAuthOptions } from "./oauth-credentials.ts";

/** Tokens for a program itself (RFC 6749, 4.4). */
export function createClientCredentials(options: OAuthOptions): CredentialProvider {
  checkOptionNames("createClientCredentials", options, OAUTH_OPTIONS);
  const scope = options.scopes?.join(" ");
  return createOAuthCredentials(options, (client, { clock, signal }) =>
    client.requestTokens({ grant_type: "client_credentials", scope }, clock.now(), signal),
  );
}
