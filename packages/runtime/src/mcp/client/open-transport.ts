import { AsyncResource } from "node:async_hooks";
import { AgentError, type Executor, McpError, type McpServerConfig, type SecretResolver, type Tool } from "@keelson/protocol";
import type { Transport } from "@modelcontextprotocol/client";
import type { Clock } from "../../platform/clock.ts";
import { answersLast } from "./answers-last.ts";
import { boundedFetch, type Fetch } from "./bounded-fetch.ts";
import { expandVariables } from "./expand-variables.ts";
import { authorizeRequests } from "./authorization/authorize-requests.ts";
import type { ServerAuthorization } from "./authorization/server-authorization.ts";
import type { ClientSdk } from "./load-sdk.ts";
import { limitMessages } from "./limit-messages.ts";
import { resolveSecret } from "./resolve-secret.ts";
import { readUrl } from "./server-url.ts";
import { runServer } from "./run-server.ts";
import { createStdioTransport } from "./stdio-transport.ts";
import { connectToTools } from "./tool-server.ts";

/** A server object of the SDK, or of anything else that can be connected to a transport of it. */
export interface McpServerObject {
  connect(transport: unknown): Promise<void>;
}

/** A server in this process: tools, or what makes a server object for each connection. */
export type InProcessServer = readonly Tool[] | (() => McpServerObject | Promise<McpServerObject>);

/** What transports are made with. */
export interface TransportServices {
  readonly inProcess: { readonly [name: string]: InProcessServer };
  readonly variables: { readonly [name: string]: string | undefined };
  readonly secrets?: SecretResolver | undefined;
  readonly fetch: Fetch;
  /** Of a server over HTTP for which tokens are got. */
  readonly authorization?: ServerAuthorization | undefined;
  readonly clock: Clock;
  /** Runs the programs of servers. Default: as process groups of this machine. */
  readonly exec?: Executor | undefined;
  /** Called when an answer in pieces is over. */
  readonly onStreamEnd?: (isResumable: boolean) => void;
  /** Where programs of servers start. */
  readonly cwd?: string | undefined;
}

const DEFAULT_MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** A transport of the SDK to the server, which was not started. */
export async function openTransport(
  sdk: ClientSdk,
  name: string,
  config: McpServerConfig,
  services: TransportServices,
): Promise<Transport> {
  const maxMessageBytes = config.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES;
  const expand = (text: string, what: string): string => expandVariables(text, services.variables, `${what} of the server "${name}"`);
  if (config.type === "in-process")
    return limitMessages(await connectInProcess(sdk, name, services.inProcess[config.name]), services.clock);
  if (config.type === "stdio") {
    const { command, args = [], env = {}, cwd = services.cwd } = config;
    const { exec } = services;
    if (config.sandbox === true && exec === undefined)
      throw new AgentError({
        kind: "invalid-option",
        option: "sandbox",
        message: `The server "${name}" is to run in a sandbox (\`sandbox: true\`), and nothing here makes one: give the manager an \`exec\`, or hold the run in an environment.`,
      });
    return createStdioTransport({
      name,
      server: {
        command: expand(command, "The command"),
        args: args.map((argument) => expand(argument, "An argument")),
        env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, expand(value, `The variable ${key}`)])),
        ...(cwd !== undefined && { cwd: expand(cwd, "The folder") }),
      },
      execute: exec === undefined ? runServer(services.variables) : (request) => exec.execute(request),
      parse: sdk.parseJSONRPCMessage,
      clock: services.clock,
      maxMessageBytes,
    });
  }
  const { authToken, headers = {} } = config;
  const { authorization, secrets, onStreamEnd } = services;
  const given = Object.entries(headers).map(([key, value]) => [key, expand(value, `The header ${key}`)] as const);
  const authorized = authorization && authorizeRequests(sdk, authorization, services.fetch);
  const token = authToken === undefined ? undefined : () => resolveSecret(name, "authToken", expand(authToken, "The token"), secrets);
  const authProvider = authorized?.authProvider ?? (token && { token });
  const options = {
    requestInit: { headers: Object.fromEntries(given) },
    fetch: boundedFetch(authorized?.fetch ?? services.fetch, { maxMessageBytes, ...(onStreamEnd && { onStreamEnd }) }),
    ...(authProvider !== undefined && { authProvider }),
  };
  const url = readUrl(name, config.url, services.variables);
  if (config.type === "sse") return limitMessages(answersLast(new sdk.SSEClientTransport(url, options)), services.clock);
  const transport = new sdk.StreamableHTTPClientTransport(url, {
    ...options,
    // What is asked for again belongs to the call in which it was lost.
    reconnectionScheduler: (again, delayMs) => services.clock.after(delayMs, AsyncResource.bind(again)),
  });
  return limitMessages(transport, services.clock);
}

async function connectInProcess(sdk: ClientSdk, name: string, server: InProcessServer | undefined): Promise<Transport> {
  if (server === undefined)
    throw new McpError({
      kind: "not-connected",
      server: name,
      message: `There is no server in this process for "${name}": give it to createMcpManager in \`inProcess\`.`,
    });
  if (typeof server !== "function") return connectToTools(name, server);
  const [ours, theirs] = sdk.InMemoryTransport.createLinkedPair();
  await (await server()).connect(theirs);
  return ours;
}
