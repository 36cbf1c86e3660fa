import type { McpLogLevel } from "@keelson/protocol";

/** What servers log, from what matters least on. */
export const MCP_LOG_LEVELS: readonly McpLogLevel[] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
