import { type JsonObject, McpError, type Tool } from "@keelson/protocol";
import { defineTool } from "../../tools/index.ts";
import type { ManagedServer } from "./managed-server.ts";
import { resourcePart } from "./tool-output.ts";

/** Tools by which a model reads what servers have beside tools. */
export function resourceTools(servers: readonly ManagedServer[]): readonly Tool[] {
  const find = (name: string): ManagedServer => {
    const found = servers.find((server) => server.name === name);
    if (found !== undefined) return found;
    const names = servers.map((server) => server.name).join(", ");
    throw new McpError({ kind: "not-connected", server: name, message: `There is no server "${name}"; there are: ${names}.` });
  };
  const server = { type: "string", description: "The name of the server." } as const;
  return [
    defineTool<{ readonly server: string }>({
      name: "mcp_list_resources",
      description: "Lists the resources of an MCP server: documents and data that mcp_read_resource reads by their address.",
      effect: "read",
      input: { type: "object", properties: { server }, required: ["server"] },
      untrusted: (input) => `MCP server ${input.server}`,
      async execute(input, { signal }) {
        const { transport } = find(input.server);
        const [resources, templates] = [await transport.listResources({ signal }), await transport.listResourceTemplates({ signal })];
        return { resources, templates } as unknown as JsonObject;
      },
    }),
    defineTool<{ readonly server: string; readonly uri: string }>({
      name: "mcp_read_resource",
      description: "Reads a resource of an MCP server by its address.",
      effect: "read",
      input: { type: "object", properties: { server, uri: { type: "string" } }, required: ["server", "uri"] },
      untrusted: (input) => `MCP server ${input.server}`,
      async execute(input, { signal }) {
        const contents = await find(input.server).transport.readResource(input.uri, { signal });
        return { type: "content", content: contents.map((one) => resourcePart(one as unknown as JsonObject)) };
      },
    }),
  ];
}
