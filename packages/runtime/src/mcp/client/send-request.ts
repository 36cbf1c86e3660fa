import type { Client, RequestOptions } from "@modelcontextprotocol/client";
import type { ClientSdk } from "./load-sdk.ts";
import type { McpRequestOptions } from "./mcp-transport.ts";
import type { RequestControl } from "./request-within.ts";

/** A connection as the parts of a transport use it. */
export interface Connected {
  readonly sdk: ClientSdk;
  readonly client: Client;
}

/** What sends requests over the connection, within the bounds of the server. */
export type SendRequest = <T>(
  doing: string,
  options: McpRequestOptions,
  work: (connected: Connected, options: RequestOptions, control: RequestControl) => Promise<T>,
) => Promise<T>;
