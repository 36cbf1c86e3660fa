// `keelson/mcp`: servers of the Model Context Protocol as sources of tools, and tools and agents as such a server.
export { cancelAllElicitations } from "./cancel-all-elicitations.ts";
export type { McpAuthorize, McpAuthorizeRequest, McpRedirect } from "./client/authorization/authorize.ts";
export { loopbackAuthorization, type LoopbackAuthorizationOptions } from "./client/authorization/loopback-authorization.ts";
export { openMcpTokenStore, type TokenStoreOptions as McpTokenStoreOptions } from "./client/authorization/open-token-store.ts";
export type { McpTokenStore } from "./client/authorization/token-store.ts";
export type { Fetch } from "./client/bounded-fetch.ts";
export { type McpLifecycleManager, type McpManagerOptions, type RegisterOptions, createMcpManager } from "./client/create-mcp-manager.ts";
export { expandVariables, variablesIn } from "./client/expand-variables.ts";
export { mcpClientProblem } from "./client/load-sdk.ts";
export type { McpRoot } from "./client/mcp-root.ts";
export type { McpToolSourceOptions } from "./client/mcp-tool-source.ts";
export type {
  McpCallOptions,
  McpCompletionArgument,
  McpCompletionTarget,
  McpNotice,
  McpPrompt,
  McpPromptMessage,
  McpRequestOptions,
  McpResource,
  McpResourceContents,
  McpResourceTemplate,
  McpToolResult,
  McpTransport,
  McpTransportStatus,
} from "./client/mcp-transport.ts";
export type { InProcessServer, McpServerObject } from "./client/open-transport.ts";
export { type McpConfigFile, type McpConfigProblem, parseMcpConfig } from "./parse-mcp-config.ts";
export { readMcpConfig } from "./read-mcp-config.ts";
export { transportKind } from "./transport-kind.ts";
export { createMcpServer, type McpServer } from "./server/create-mcp-server.ts";
export {
  type ServedAgent,
  type CompleteArgument,
  type ServedPrompt,
  type ServedPromptMessage,
  type ServedResource,
  type ServedResourceContent,
  type ServedResourceTemplate,
  type ServedRunner,
  type McpServerOptions,
} from "./server/mcp-server-options.ts";
export { mcpRequest, type McpAskOptions, type ClientOffer, type McpRequest, type ClientRoot } from "./server/mcp-request.ts";
export { serveMcpStdio, type McpStdioConnection, type ServeMcpStdioOptions } from "./server/serve-mcp-stdio.ts";
export { serveMcpHttp, type McpHttpServer } from "./server/http/serve-mcp-http.ts";
export type { ServeMcpHttpOptions } from "./server/http/http-options.ts";
export type { McpAuthenticate, McpHttpHead, McpPrincipal, McpProtectedResource } from "./server/http/authentication.ts";
export type { RateLimit as McpRateLimit } from "./server/http/rate-limiter.ts";
