// A server of notes over standard input and output, made with the official SDK.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

serveStdio(() => {
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  server.registerTool("list", { description: "Lists the notes.", annotations: { readOnlyHint: true } }, () => ({
    content: [{ type: "text", text: "Buy milk" }],
  }));
  return server;
});
