import { checkMethodOptions, type MethodOptions } from "../../json/check-method-options.ts";

/** Gives what a request is let in with. Usable wherever a key may be a function: `apiKey: () => credentials.token()`. */
export interface CredentialProvider {
  /** One that holds: from before, refreshed, or new. Those who ask at once share one request. */
  token(options?: { readonly signal?: AbortSignal }): Promise<string>;
  /** As in `{ authorization: "Bearer …" }`. */
  headers(options?: { readonly signal?: AbortSignal }): Promise<{ readonly authorization: string }>;
  /** Says that a token was refused, so that another is got. One that was replaced meanwhile changes nothing. */
  refused(token: string): void;
}

export const CREDENTIAL_METHODS: MethodOptions<CredentialProvider> = { token: [0, { signal: true }], headers: [0, { signal: true }] };

/** A credential that does not change, or is read anew each time: a function may resolve a reference. */
export function createStaticCredentials(token: string | (() => Promise<string>)): CredentialProvider {
  const current = async (): Promise<string> => (typeof token === "function" ? token() : token);
  const credentials: CredentialProvider = {
    token: current,
    headers: async () => ({ authorization: `Bearer ${await current()}` }),
    refused: () => {},
  };
  return checkMethodOptions("credentials", credentials, CREDENTIAL_METHODS);
}
