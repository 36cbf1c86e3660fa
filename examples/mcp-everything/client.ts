// Talks to a server of the official conformance tests: node --conditions=source client.ts <url>. The scenario says which calls it wants.
import { type JsonObject, McpError, type McpOAuthSettings, type McpToolDescriptor } from "@keelson/protocol";
import { createMcpManager } from "keelson/mcp";

interface Context {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: JsonObject }[];
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
  readonly issuer?: string;
  readonly idp_client_id?: string;
  readonly idp_id_token?: string;
  readonly idp_token_endpoint?: string;
}

const MOST_LOGINS = 3;

const url = process.argv.at(-1) ?? "";
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Context;

await using servers = createMcpManager({
  // The tests start many of these at once, on a machine that may have little to give.
  servers: { tested: { type: "http", url, oauth: settingsFrom(context), connectTimeoutMs: 120_000, timeoutMs: 120_000 } },
  // Of a form it takes what it begins with.
  onElicitation: ({ requestId }) => ({ type: "provided", requestId, value: {} }),
  // These authorization servers send a browser back at once: nobody has to agree.
  authorize: () => ({
    uri: "http://127.0.0.1:3000/callback",
    async visit(address) {
      const { headers } = await fetch(address, { redirect: "manual" });
      return headers.get("location") ?? "";
    },
  }),
});
const tools = await loggingIn(() => servers.listTools("tested"));
const calls = context.toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: inputFor(tool, tools) }));
for (const { name, arguments: input } of calls) {
  try {
    const { content } = await loggingIn(() => servers.callTool("tested", name, input));
    console.log(`${name}: ${JSON.stringify(content)}`);
  } catch (error) {
    // Some scenarios have a tool that fails.
    console.error(`${name} failed:`, error);
  }
}
await servers.transport("tested").listResources();

/** Does it, and logs in first where the server wants that: again where it wants more, up to a limit. */
async function loggingIn<T>(work: () => Promise<T>): Promise<T> {
  for (let logins = 0; ; logins++) {
    try {
      return await work();
    } catch (error) {
      const reason = McpError.is(error, "unauthorized") ? error.failure.reason : undefined;
      if ((reason !== "login-needed" && reason !== "scope-needed") || logins === MOST_LOGINS) throw error;
      await servers.login("tested");
    }
  }
}

function settingsFrom({ client_id: clientId, client_secret: clientSecret, ...more }: Context): McpOAuthSettings {
  const { private_key_pem: privateKey, signing_algorithm: algorithm, issuer, idp_token_endpoint: tokenUrl } = more;
  const grant = scenario.includes("client-credentials") ? "client-credentials" : tokenUrl === undefined ? undefined : "identity-assertion";
  const identity = { clientId: more.idp_client_id ?? "", idToken: more.idp_id_token ?? "" };
  return {
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    ...(grant !== undefined && { grant }),
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret !== undefined && { clientSecret }),
    ...(privateKey !== undefined && { privateKey }),
    ...(algorithm !== undefined && { algorithm }),
    ...(issuer !== undefined && { issuer }),
    ...(tokenUrl !== undefined && { identityProvider: { ...identity, tokenUrl } }),
  };
}

/** An input that fits the schema as far as its types say; a tool that takes a schema gets that of another tool. */
function inputFor(tool: McpToolDescriptor, all: readonly McpToolDescriptor[]): JsonObject {
  const properties = (tool.inputSchema["properties"] ?? {}) as { readonly [name: string]: JsonObject };
  const values: { readonly [type: string]: (name: string) => JsonObject[string] } = {
    string: () => "text",
    number: () => 3,
    integer: () => 3,
    boolean: () => true,
    array: () => [],
    object: () => all.find(({ name }) => name !== tool.name)?.inputSchema ?? {},
  };
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, { type }]) => {
      const value = values[String(type)];
      return value === undefined ? [] : [[name, value(name)]];
    }),
  );
}
