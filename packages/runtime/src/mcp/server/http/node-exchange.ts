import type { IncomingMessage, ServerResponse } from "node:http";

/** The whole body, or `undefined` for one that is larger; of that no more is read. Rejects where the client is gone before its end. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A request as the web has it. */
export function webRequest(request: IncomingMessage, url: URL, body: Buffer | undefined, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) headers.append(name, one);
  const method = request.method ?? "GET";
  const hasBody = body !== undefined && method !== "GET" && method !== "HEAD";
  return new Request(url, { method, headers, signal, ...(hasBody && { body: new Uint8Array(body) }) });
}

/**
 * Writes a response out, as fast as the client reads it. A client that leaves more than `maxWaitingBytes` unread is cut off: what is written for it
 * would gather here without end.
 */
export async function sendResponse(response: Response, to: ServerResponse, limits: { readonly maxWaitingBytes: number }): Promise<void> {
  const headers: { [name: string]: string } = {};
  response.headers.forEach((value, name) => (headers[name] = value));
  to.writeHead(response.status, headers);
  if (response.body === null) {
    to.end();
    return;
  }
  to.flushHeaders();
  const reader = response.body.getReader();
  const gone = (): void => void reader.cancel().catch(() => {});
  to.once("close", gone);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || to.destroyed) break;
      to.write(value);
      if (to.writableLength > limits.maxWaitingBytes) {
        to.destroy();
        break;
      }
    }
    if (!to.destroyed) to.end();
  } finally {
    to.off("close", gone);
    gone();
  }
}

export function sendText(to: ServerResponse, status: number, body: string, headers: { readonly [name: string]: string } = {}): void {
  if (to.headersSent || to.destroyed) return;
  to.writeHead(status, { "content-type": "application/json", ...headers });
  to.end(body);
}

/** A refusal in the form that clients of the protocol read. */
export function refuse(to: ServerResponse, status: number, message: string, headers: { readonly [name: string]: string } = {}): void {
  sendText(to, status, JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message }, id: null }), headers);
}
