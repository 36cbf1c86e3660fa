// A server of the Model Context Protocol over standard input and output: it keeps notes, and asks before it throws one away.
import { inputRequired, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const notes = new Map([["milk", "Buy milk"]]);
const said = (text: string) => ({ content: [{ type: "text" as const, text }] });

serveStdio(() => {
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  server.registerTool("list", { description: "Lists the notes.", annotations: { readOnlyHint: true } }, () =>
    said([...notes.values()].join("\n")),
  );
  server.registerTool(
    "throw_away",
    { description: "Throws a note away.", inputSchema: z.object({ name: z.string() }), annotations: { destructiveHint: true } },
    ({ name }, context) => {
      const answer = context.mcpReq.inputResponses?.["sure"] as { readonly action: string } | undefined;
      if (answer === undefined)
        return inputRequired({
          inputRequests: {
            sure: inputRequired.elicit({ message: `Throw "${name}" away?`, requestedSchema: { type: "object", properties: {} } }),
          },
        });
      if (answer.action !== "accept") return said("It is still there.");
      notes.delete(name);
      return said("Gone.");
    },
  );
  server.registerResource("milk", "note://milk", { mimeType: "text/plain" }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: notes.get("milk") ?? "" }],
  }));
  return server;
});
