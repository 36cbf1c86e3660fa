// Logs in to a server of the Model Context Protocol that lets nobody in without a token, and uses it again without a login.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTool } from "keelson";
import { createMcpServer, serveMcpHttp } from "keelson/mcp";
import { startAuthorizationServer } from "./authorization-server.ts";

await using logins = await startAuthorizationServer();
const list = defineTool({
  name: "list",
  description: "Lists tickets.",
  effect: "read",
  input: { type: "object" },
  execute: () => "Printer on fire",
});
const server = createMcpServer({ name: "tickets", version: "1.0.0", tools: [list] });
await using http = await serveMcpHttp(server, {
  authenticate: (token) => (logins.knows(token) ? { id: "somebody" } : undefined),
  protectedResource: { authorizationServers: [logins.issuer] },
});
const { url } = http;
const folder = await mkdtemp(join(tmpdir(), "keelson-login-"));
/** In place of a browser, and of the person at it. */
const openInBrowser = (address: string): void => void fetch(address);

// #region login
import { createMcpManager, loopbackAuthorization, openMcpTokenStore } from "keelson/mcp";

const tokens = await openMcpTokenStore({ folder });
await using servers = createMcpManager({
  servers: { tickets: { type: "http", url } },
  authorize: loopbackAuthorization({ open: openInBrowser }),
  tokens,
});
await servers.login("tickets");
const { content } = await servers.callTool("tickets", "list");
console.log(content); // [{ type: "text", text: "Printer on fire" }]
// #endregion
assert.deepEqual(content, [{ type: "text", text: "Printer on fire" }]);

await using later = createMcpManager({ servers: { tickets: { type: "http", url } }, tokens: await openMcpTokenStore({ folder }) });
assert.deepEqual((await later.callTool("tickets", "list")).content, content);

// #region needed
import { McpError } from "@keelson/protocol";

await servers.logout("tickets");
try {
  await servers.callTool("tickets", "list");
} catch (error) {
  if (McpError.is(error, "unauthorized")) console.log(error.failure.reason); // login-needed
}
// #endregion
await assert.rejects(servers.callTool("tickets", "list"), (error) => McpError.is(error, "unauthorized"));
await rm(folder, { recursive: true });
