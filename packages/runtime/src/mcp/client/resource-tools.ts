import type { JsonObject, Tool } from "@keelson/protocol";
import { defineTool } from "../../tools/index.ts";
import type { ManagedServer } from "./managed-server.ts";
import { resourcePart } from "../../tools/call-tool-output.ts";

/** A tool of ours for a server, under a name that it would have if the server had it. */
export interface ResourceTool {
  readonly server: ManagedServer;
  readonly tool: string;
  make(name: string): Tool;
}

/** Tools by which a model reads what a server has beside tools. The same rules hold for them as for the server's own. */
export function resourceTools(server: ManagedServer): readonly ResourceTool[] {
  const untrusted = (): string => `MCP server ${server.name}`;
  const list = (name: string): Tool =>
    defineTool({
      name,
      description: `Lists the resources of the MCP server "${server.name}": documents and data that are read by their address.`,
      effect: "read",
      input: { type: "object", properties: {} },
      untrusted,
      async execute(_input, { signal }) {
        const { transport } = server;
        const [resources, templates] = [await transport.listResources({ signal }), await transport.listResourceTemplates({ signal })];
        return { resources, templates } as unknown as JsonObject;
      },
    });
  const read = (name: string): Tool =>
    defineTool<{ readonly uri: string }>({
      name,
      description: `Reads a resource of the MCP server "${server.name}" by its address.`,
      // The address is the model's: it can carry anything to a server that nobody vouches for.
      effect: server.settings.trustAnnotations === true ? "read" : "idempotent",
      input: { type: "object", properties: { uri: { type: "string" } }, required: ["uri"] },
      untrusted,
      async execute({ uri }, { signal }) {
        const contents = await server.transport.readResource(uri, { signal });
        return { type: "content", content: contents.map((one) => resourcePart(one as unknown as JsonObject)) };
      },
    });
  return [
    { server, tool: "list_resources", make: list },
    { server, tool: "read_resource", make: read },
  ];
}
