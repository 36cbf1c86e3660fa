import type { ToolSource } from "@keelson/protocol";

/** The servers of the Model Context Protocol that agents name in `mcpServers`: made with `createMcpManager`. */
export interface McpServers {
  toolSource(options: { readonly name: string; readonly servers: readonly string[]; readonly startupWaitMs: number }): ToolSource;
}
