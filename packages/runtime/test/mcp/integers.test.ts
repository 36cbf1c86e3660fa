import { createMcpManager } from "keelson/mcp";
import { expect, it } from "vitest";
import { serveScripted } from "./scripted-http-server.ts";

const DIGITS = "1917043659912705296";
const MAXIMUM = "18446744073709551615";
const RESULT = `{"content":[{"type":"text","text":"x"}],"structuredContent":{"id":${DIGITS},"n":[5]}}`;
const TOOLS = `{"tools":[{"name":"note","inputSchema":{"type":"object","properties":{"id":{"type":"integer","maximum":${MAXIMUM}}}}}]}`;
const expected = { structuredContent: { id: DIGITS, n: [5] } };
const maximum = [{ inputSchema: { properties: { id: { maximum: Number(MAXIMUM) } } } }];

it.each([
  ["a body", "application/json", (message: string) => message],
  ["an event", "text/event-stream", (message: string) => `event: message\ndata: ${message}\n\n`],
])("keeps the digits of integers in the results of a server over HTTP that answers with %s", async (_, type, wrap) => {
  await using server = await serveScripted(({ method, id, response }) => {
    const result = method === "tools/call" ? RESULT : method === "tools/list" ? TOOLS : undefined;
    if (result !== undefined)
      response.writeHead(200, { "content-type": type }).end(wrap(`{"jsonrpc":"2.0","id":${id},"result":${result}}`));
  });
  await using manager = createMcpManager({ servers: { one: { type: "http", url: server.url } } });
  expect(await manager.listTools("one")).toMatchObject(maximum);
  expect(await manager.callTool("one", "note")).toMatchObject(expected);
});

it("keeps the digits of integers in the results of a server that is a program", async () => {
  const script = `
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      const results = {
        "initialize": '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}',
        "tools/list": ${JSON.stringify(TOOLS)},
        "tools/call": ${JSON.stringify(RESULT)},
      };
      if (id === undefined) return;
      const answer = results[method] === undefined ? '"error":{"code":-32601,"message":"no"}' : '"result":' + results[method];
      process.stdout.write('{"jsonrpc":"2.0","id":' + id + "," + answer + "}\\n");
    });`;
  await using manager = createMcpManager({ servers: { one: { type: "stdio", command: process.execPath, args: ["-e", script] } } });
  expect(await manager.listTools("one")).toMatchObject(maximum);
  expect(await manager.callTool("one", "note")).toMatchObject(expected);
});

it("takes whatever a server in this process gives as JSON, since its tool ran", async () => {
  const { McpServer } = await import("@modelcontextprotocol/server");
  const make = (): InstanceType<typeof McpServer> => {
    const server = new McpServer({ name: "own", version: "1" });
    server.registerTool("note", { description: "x" }, () => ({ content: [], structuredContent: { id: 5n, at: new Date(0) } }) as never);
    return server;
  };
  await using manager = createMcpManager({ servers: { one: { type: "in-process", name: "own" } }, inProcess: { own: make as never } });
  expect(await manager.callTool("one", "note")).toMatchObject({ structuredContent: { id: "5", at: "1970-01-01T00:00:00.000Z" } });
});
