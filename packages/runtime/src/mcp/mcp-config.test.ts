import type { ElicitationRequest, McpServerConfig } from "@keelson/protocol";
import { cancelAllElicitations, transportKind } from "keelson/mcp";
import { expect, it } from "vitest";

it("names the transport of a server by its configuration [MT-01]", () => {
  const servers: readonly McpServerConfig[] = [
    { type: "stdio", command: "server" },
    { type: "http", url: "https://example.com/mcp" },
    { type: "sse", url: "https://example.com/sse" },
    { type: "in-process", name: "notes" },
  ];
  expect(servers.map(transportKind)).toEqual(["stdio", "http", "sse", "in-process"]);
});

it("cancels every question where nobody is to be asked [MT-05, MT-06, MT-07]", async () => {
  const request: ElicitationRequest = { requestId: "e1", message: "Which city?", responseSchema: { type: "object" }, required: true };
  const options = { signal: new AbortController().signal };
  expect(await cancelAllElicitations(request, options)).toEqual({ type: "cancelled", requestId: "e1" });
});
