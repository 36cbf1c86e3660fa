import type { McpServerConfig, McpTransportKind } from "@keelson/protocol";

/** The name of the transport that a server is reached by. */
export function transportKind(config: McpServerConfig): McpTransportKind {
  return config.type;
}
