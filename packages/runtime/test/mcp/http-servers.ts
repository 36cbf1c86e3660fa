import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { createSdkServer } from "./sdk-server.ts";

export interface HttpServer extends AsyncDisposable {
  readonly url: string;
  /** The headers of each request. */
  readonly requests: readonly IncomingMessage["headers"][];
}

/** Serves on a port of this machine. */
export async function serve(answer: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void): Promise<HttpServer> {
  const requests: IncomingMessage["headers"][] = [];
  const server: Server = createServer((request, response) => {
    requests.push(request.headers);
    void Promise.resolve(answer(request, response)).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The server of the SDK over Streamable HTTP. @param watch is told of each request, and may end the response */
export function serveHttp(watch: (body: string, response: ServerResponse) => void = () => {}): Promise<HttpServer> {
  const handler = createMcpHandler(() => createSdkServer());
  return serve(async (request, response) => {
    const body = await readBody(request);
    watch(body, response);
    await answerWith(handler, request, body, response);
  });
}

/** Has a handler of the SDK answer. */
export async function answerWith(
  handler: { fetch(request: Request): Promise<Response> },
  request: IncomingMessage,
  body: string,
  response: ServerResponse,
): Promise<void> {
  const answer = await handler.fetch(
    new Request(`http://${request.headers.host}${request.url}`, {
      method: request.method ?? "GET",
      headers: request.headers as Record<string, string>,
      ...(body !== "" && { body }),
    }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  for await (const chunk of answer.body ?? []) response.write(chunk);
  response.end();
}

export async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}

/** Answers as a server over the transport before Streamable HTTP, written by hand: the SDK has none any more. */
export function answerOverSse(): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const streams = new Set<ServerResponse>();
  return async (request, response) => {
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("event: endpoint\ndata: /messages\n\n");
      streams.add(response);
      return void (await once(response, "close"));
    }
    const { id, method } = JSON.parse(await readBody(request)) as { readonly id?: number; readonly method: string };
    response.writeHead(202).end();
    if (id === undefined) return;
    const results: { readonly [method: string]: object } = {
      "initialize": { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo: { name: "old", version: "1" } },
      "tools/list": { tools: [{ name: "hello", inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: "Hello!" }] },
    };
    const answer = method in results ? { result: results[method] } : { error: { code: -32601, message: "no" } };
    for (const stream of streams) stream.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n\n`);
  };
}
