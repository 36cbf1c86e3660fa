import type { McpOAuthSettings, SecretResolver } from "@keelson/protocol";
import { expandVariables } from "../expand-variables.ts";
import { resolveSecret } from "../resolve-secret.ts";

export interface OAuthValues {
  readonly server: string;
  readonly variables: { readonly [name: string]: string | undefined };
  readonly secrets?: SecretResolver | undefined;
}

/** The settings with values in the place of variables and references. @throws McpError */
export async function resolveOAuthSettings(settings: McpOAuthSettings, values: OAuthValues): Promise<McpOAuthSettings> {
  const { clientSecret, privateKey, identityProvider, ...open } = settings;
  const { clientSecret: providerSecret, idToken, ...openProvider } = identityProvider ?? {};
  const secret = (option: string, text: string | undefined): Promise<string | undefined> => resolved(`oauth.${option}`, text, values);
  const hidden = {
    clientSecret: await secret("clientSecret", clientSecret),
    privateKey: await secret("privateKey", privateKey),
  };
  if (identityProvider === undefined) return { ...expanded(open, values), ...present(hidden) };
  const hiddenProvider = {
    clientSecret: await secret("identityProvider.clientSecret", providerSecret),
    idToken: await secret("identityProvider.idToken", idToken),
  };
  return {
    ...expanded(open, values),
    ...present(hidden),
    identityProvider: { ...identityProvider, ...expanded(openProvider, values), ...present(hiddenProvider) },
  };
}

function expanded<Texts extends { readonly [name: string]: string | undefined }>(texts: Texts, { variables, server }: OAuthValues): Texts {
  const of = (name: string): string => `\`oauth.${name}\` of the server "${server}"`;
  const entries = Object.entries(texts).map(([name, text]) => [
    name,
    text === undefined ? text : expandVariables(text, variables, of(name)),
  ]);
  return Object.fromEntries(entries) as Texts;
}

async function resolved(
  option: string,
  text: string | undefined,
  { server, variables, secrets }: OAuthValues,
): Promise<string | undefined> {
  if (text === undefined) return undefined;
  return resolveSecret(server, option, expandVariables(text, variables, `\`${option}\` of the server "${server}"`), secrets);
}

/** Without what is `undefined`, which is not the same as left out. */
function present<Values extends object>(values: Values): { [Name in keyof Values]?: NonNullable<Values[Name]> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Values]?: NonNullable<Values[Name]>;
  };
}
