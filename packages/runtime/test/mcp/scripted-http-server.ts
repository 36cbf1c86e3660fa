import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { type HttpServer, readBody, serve } from "./http-servers.ts";

/** What a client sent. */
export interface ScriptedRequest {
  /** Of the protocol; a stream that is asked for is `GET`, the end of a session `DELETE`. */
  readonly method: string;
  readonly id?: number;
  readonly params?: { readonly name?: string; readonly [name: string]: unknown };
  readonly headers: IncomingHttpHeaders;
  readonly response: ServerResponse;
}

export type Script = (request: ScriptedRequest) => object | undefined | void;

const CAPABILITIES = { tools: { listChanged: true }, resources: { subscribe: true } };
const INITIALIZED = { protocolVersion: "2025-06-18", capabilities: CAPABILITIES, serverInfo: { name: "scripted", version: "1" } };

/** An event of a stream. */
export function event(message: object, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
}

export function text(said: string): object {
  return { content: [{ type: "text", text: said }] };
}

/**
 * A server of an older revision over HTTP. `script` gives results, answers by itself, or does neither: then what any server does is done, and calls
 * are answered with the name of the tool.
 */
export function serveScripted(script: Script): Promise<HttpServer> {
  return serve(async (request, response) => {
    const { headers } = request;
    const isPost = request.method === "POST";
    const message = isPost ? (JSON.parse(await readBody(request)) as Pick<ScriptedRequest, "method" | "id" | "params">) : undefined;
    const asked = { method: request.method ?? "", ...message, headers, response };
    const result = script(asked) ?? (asked.method === "initialize" ? INITIALIZED : usual(asked));
    if (response.headersSent || response.destroyed || result === WAITING) return;
    if (!isPost) return void response.writeHead(405).end();
    if (asked.id === undefined) return void response.writeHead(202).end();
    const answer = result === undefined ? { error: { code: -32601, message: "no such method" } } : { result };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id: asked.id, ...answer }));
  });
}

/** Of a script: nothing is answered, for now. */
export const WAITING = {};

function usual({ method, params }: ScriptedRequest): object | undefined {
  if (method === "ping") return {};
  if (method === "tools/list") return { tools: [{ name: "good", inputSchema: { type: "object" } }] };
  return method === "tools/call" ? text(String(params?.name)) : undefined;
}
