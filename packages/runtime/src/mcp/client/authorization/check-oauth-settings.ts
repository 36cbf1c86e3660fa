import { AgentError, type McpIdentityProvider, type McpOAuthGrant, type McpOAuthSettings } from "@keelson/protocol";
import { checkOptionNames, type OptionNames } from "../../../json/option-names.ts";

const NAMES: OptionNames<McpOAuthSettings> = {
  grant: true,
  clientId: true,
  clientSecret: true,
  privateKey: true,
  algorithm: true,
  clientMetadataUrl: true,
  scope: true,
  issuer: true,
  identityProvider: true,
};
const PROVIDER_NAMES: OptionNames<McpIdentityProvider> = { tokenUrl: true, clientId: true, clientSecret: true, idToken: true };
const GRANTS: { readonly [Grant in McpOAuthGrant]: readonly (keyof McpOAuthSettings)[] } = {
  "authorization-code": [],
  "client-credentials": ["clientId"],
  "identity-assertion": ["clientId", "clientSecret", "identityProvider"],
};

/** @param of whose settings they are, as in `The server "notes"`. @throws AgentError of kind `invalid-option` that names what is wrong */
export function checkOAuthSettings(of: string, oauth: McpOAuthSettings): void {
  const invalid = (option: string, message: string): AgentError =>
    new AgentError({ kind: "invalid-option", option: `oauth.${option}`, message: `${of} ${message}` });
  checkOptionNames(`${of} has an \`oauth\` that`, oauth, NAMES);
  const { grant = "authorization-code", clientId, clientSecret, privateKey, clientMetadataUrl, identityProvider } = oauth;
  const needed = Object.hasOwn(GRANTS, grant) ? GRANTS[grant] : undefined;
  if (needed === undefined)
    throw invalid("grant", `has the \`oauth.grant\` ${JSON.stringify(grant)}: it must be one of ${Object.keys(GRANTS).join(", ")}.`);
  for (const option of needed) if (oauth[option] === undefined) throw invalid(option, `needs \`oauth.${option}\` for the grant ${grant}.`);
  if (grant === "client-credentials" && (clientSecret === undefined) === (privateKey === undefined))
    throw invalid("clientSecret", `needs either \`oauth.clientSecret\` or \`oauth.privateKey\` for the grant ${grant}.`);
  if (clientSecret !== undefined && clientId === undefined)
    throw invalid("clientId", "has an `oauth.clientSecret`, and no `oauth.clientId` that it is of.");
  if (privateKey !== undefined && grant !== "client-credentials")
    throw invalid("privateKey", "has an `oauth.privateKey`, which is for the grant client-credentials.");
  if (clientMetadataUrl !== undefined && !isDocumentUrl(clientMetadataUrl))
    throw invalid("clientMetadataUrl", "needs an `oauth.clientMetadataUrl` that begins with https:// and has a path.");
  if (identityProvider === undefined) return;
  checkOptionNames(`${of} has an \`oauth.identityProvider\` that`, identityProvider, PROVIDER_NAMES);
  for (const option of ["tokenUrl", "clientId", "idToken"] as const)
    if (typeof identityProvider[option] !== "string")
      throw invalid("identityProvider", `needs \`oauth.identityProvider.${option}\` for the grant ${grant}.`);
}

function isDocumentUrl(url: string): boolean {
  const read = URL.parse(url);
  return read?.protocol === "https:" && read.pathname !== "/";
}
