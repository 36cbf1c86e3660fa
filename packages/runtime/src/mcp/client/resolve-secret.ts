import { McpError, type SecretResolver } from "@keelson/protocol";

/**
 * A reference, such as `env:TOKEN`, where there is a resolver; else the value itself.
 * @param option where it stands in the configuration, as in "authToken"
 * @throws McpError of kind `unauthorized`
 */
export async function resolveSecret(server: string, option: string, text: string, secrets: SecretResolver | undefined): Promise<string> {
  if (secrets === undefined || !/^[a-z][a-z0-9+.-]*:/.test(text)) return text;
  try {
    return await secrets.resolve(text);
  } catch (error) {
    throw new McpError(
      {
        kind: "unauthorized",
        server,
        message: `A secret of the server "${server}" can't be resolved: check \`${option}\` and where that is kept.`,
      },
      { cause: error },
    );
  }
}
