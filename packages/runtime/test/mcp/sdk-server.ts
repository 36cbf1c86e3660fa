import { inputRequired, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A server made with the official SDK that has something of everything. */
export function createSdkServer(): McpServer {
  const server = new McpServer(
    { name: "everything", version: "1.0.0" },
    { capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} } },
  );
  const said = (text: string) => ({ content: [{ type: "text" as const, text }] });
  server.registerTool(
    "add",
    { description: "Adds.", inputSchema: z.object({ a: z.number(), b: z.number() }), annotations: { readOnlyHint: true } },
    ({ a, b }) => said(String(a + b)),
  );
  server.registerTool("fail", { description: "Fails." }, () => ({ ...said("It went wrong."), isError: true }));
  server.registerTool("environment", { description: "Its environment." }, () => said(JSON.stringify({ ...process.env })));
  server.registerTool("pid", { description: "Its process." }, () => said(String(process.pid)));
  server.registerTool("die", { description: "Ends it." }, () => process.exit(3));
  server.registerTool(
    "weather",
    { description: "Structured.", outputSchema: z.object({ celsius: z.number() }), annotations: { destructiveHint: true } },
    () => ({ ...said('{"celsius":7}'), structuredContent: { celsius: 7 } }),
  );
  server.registerTool("parts", { description: "Parts." }, () => ({
    content: [
      { type: "text", text: "Look:" },
      { type: "image", data: PIXEL, mimeType: "image/png" },
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      { type: "resource_link", uri: "note://1", name: "one", description: "The first note" },
      { type: "resource", resource: { uri: "note://2", mimeType: "text/plain", text: "Second" } },
      { type: "resource", resource: { uri: "note://3", mimeType: "application/pdf", blob: "AAAA" } },
    ],
  }));
  server.registerTool("meta", { description: "What it was told." }, (context) => said(JSON.stringify(context.mcpReq._meta ?? {})));
  server.registerTool("steps", { description: "Tells how far it is." }, async (context) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    if (progressToken !== undefined)
      for (const progress of [1, 2])
        await context.mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress, total: 2, message: `step ${progress}` },
        });
    return said("done");
  });
  server.registerTool("chat", { description: "Logs." }, async (context) => {
    await context.mcpReq.log("debug", "a detail");
    await context.mcpReq.log("info", "a fact");
    return said("logged");
  });
  server.registerTool("wait", { description: "Waits until it is cancelled." }, async (context) => {
    await new Promise((resolve) => context.mcpReq.signal.addEventListener("abort", resolve));
    return said("cancelled");
  });
  server.registerTool("book", { description: "Asks first." }, (context) => {
    const answer = context.mcpReq.inputResponses?.["city"] as { readonly action: string; readonly content?: unknown } | undefined;
    if (answer === undefined)
      return inputRequired({
        inputRequests: {
          city: inputRequired.elicit({
            message: "Which city?",
            requestedSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
          }),
        },
      });
    return said(`${answer.action}: ${JSON.stringify(answer.content ?? null)}`);
  });
  server.registerTool("reserve", { description: "Asks with a form that is filled in." }, (context) => {
    const answer = context.mcpReq.inputResponses?.["form"] as { readonly content?: { readonly [name: string]: unknown } } | undefined;
    if (answer !== undefined) return said(JSON.stringify(Object.fromEntries(Object.entries(answer.content ?? {}).sort())));
    const properties = { city: { type: "string" as const, default: "Oslo" }, nights: { type: "integer" as const, default: 1 } };
    return inputRequired({
      inputRequests: { form: inputRequired.elicit({ message: "Where?", requestedSchema: { type: "object", properties } }) },
    });
  });
  server.registerTool("think", { description: "Asks a model." }, (context) => {
    const answer = context.mcpReq.inputResponses?.["thought"];
    if (answer !== undefined) return said(JSON.stringify(answer));
    const messages = [{ role: "user" as const, content: { type: "text" as const, text: "Think!" } }];
    return inputRequired({ inputRequests: { thought: inputRequired.createMessage({ messages, maxTokens: 10 }) } });
  });
  server.registerTool("grow", { description: "Has one more tool after that." }, () => {
    server.registerTool("grown", { description: "New." }, () => said("new"));
    return said("grown");
  });
  server.registerResource("note", "note://1", { description: "The first note", mimeType: "text/plain" }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: "First" }],
  }));
  server.registerPrompt("greet", { description: "Greets.", argsSchema: z.object({ name: z.string() }) }, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Greet ${name}.` } }],
  }));
  return server;
}
