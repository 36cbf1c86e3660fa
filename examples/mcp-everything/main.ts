// Serves `server.ts` and asks it something, as a client of the stateless revision does it. The conformance suite asks it everything else
// (`npm run conformance:mcp`).
import assert from "node:assert/strict";
import { serveMcpHttp } from "keelson/mcp";
import { everythingServer } from "./server.ts";

const REVISION = "2026-07-28";
await using http = await serveMcpHttp(everythingServer());

async function ask(method: string, params: { readonly name?: string }): Promise<{ readonly result?: object; readonly error?: object }> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": { name: "example", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const response = await fetch(http.url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "accept": "application/json, text/event-stream",
      "mcp-protocol-version": REVISION,
      "mcp-method": method,
      ...(params.name !== undefined && { "mcp-name": params.name }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
  });
  return (await response.json()) as { readonly result?: object; readonly error?: object };
}

const listed = await ask("tools/list", {});
console.log(`${(listed.result as { readonly tools?: readonly object[] }).tools?.length} tools`);
assert.ok(listed.result);
const called = await ask("tools/call", { name: "test_simple_text" });
assert.deepEqual((called.result as { readonly content?: object }).content, [
  { type: "text", text: "This is a simple text response for testing." },
]);
