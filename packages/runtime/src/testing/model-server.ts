import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { once } from "node:events";
import type { JsonObject } from "@keelson/protocol";
import { anthropicError, encodeAnthropicTurn } from "./model-server-anthropic.ts";
import { chatError, encodeChatTurn } from "./model-server-chat.ts";
import type { EncodedTurn, ServerEvent, ServerRequest, ServerTurn } from "./model-server-turn.ts";

export type { Misbehaviour, ServerRequest, ServerToolCall, ServerTurn } from "./model-server-turn.ts";

/** The turns in order, or a function that answers each request from what it asks. */
export type ServerScript =
  | readonly (ServerTurn | ((request: ServerRequest) => ServerTurn | Promise<ServerTurn>))[]
  | ((request: ServerRequest) => ServerTurn | Promise<ServerTurn>);

export interface ModelServerOptions {
  /** Default: one that is free. */
  readonly port?: number;
  /** Offered under `/v1/models`. */
  readonly models?: readonly string[];
}

export interface ModelServer extends AsyncDisposable {
  /** For `baseUrl` of the Anthropic provider. */
  readonly url: string;
  /** For `baseUrl` of the OpenAI provider. */
  readonly openAiUrl: string;
  /** Every request for an answer so far. */
  readonly requests: readonly ServerRequest[];
  /** How many connections are open now. */
  readonly connections: number;
  /** How many answers the client left before their end. */
  readonly abandoned: number;
  /** Resolves when no connection is open any more. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A model server on the loopback interface that speaks `/v1/messages` and `/v1/chat/completions`, streaming and not, from a
 * script, and can misbehave in every way a real one does. A request past the end of the script gets status 400 and a message
 * that names it.
 */
export async function startModelServer(script: ServerScript, options: ModelServerOptions = {}): Promise<ModelServer> {
  const { createServer } = process.getBuiltinModule("node:http");
  const requests: ServerRequest[] = [];
  const sockets = new Set<Socket>();
  const waiting: (() => void)[] = [];
  let abandoned = 0;

  const server = createServer((request, response) => {
    response.on("error", () => undefined);
    response.on("close", () => {
      if (!response.writableFinished) abandoned += 1;
    });
    serve(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else reply(response, 500, { error: { type: "server_error", message: `the model server failed: ${String(error)}` } });
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => {
      sockets.delete(socket);
      if (sockets.size === 0) for (const resolve of waiting.splice(0)) resolve();
    });
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method === "GET" && path.endsWith("/models")) {
      reply(response, 200, {
        object: "list",
        data: (options.models ?? []).map((id) => ({ id, type: "model", object: "model", display_name: id })),
        has_more: false,
      });
      return;
    }
    const wire = path.endsWith("/messages") ? "anthropic-messages" : path.endsWith("/chat/completions") ? "openai-chat" : undefined;
    if (wire === undefined) {
      reply(response, 404, { error: { type: "not_found_error", message: `the model server has no ${path}` } });
      return;
    }
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as JsonObject;
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const asked: ServerRequest = { index: requests.length, wire, path, headers, body, streamed: body["stream"] === true };
    requests.push(asked);
    const entry = typeof script === "function" ? script : script[asked.index];
    if (entry === undefined) {
      const message = `the script of the model server has ${script.length} turns, and this is request ${asked.index + 1}`;
      reply(response, 400, wire === "anthropic-messages" ? anthropicError({ message }, 400, "req_script") : chatError({ message }, 400));
      return;
    }
    await answer(typeof entry === "function" ? await entry(asked) : entry, asked, response);
  }

  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    url,
    openAiUrl: `${url}/v1`,
    requests,
    get connections() {
      return sockets.size;
    },
    get abandoned() {
      return abandoned;
    },
    idle: () => (sockets.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function answer(turn: ServerTurn, request: ServerRequest, response: ServerResponse): Promise<void> {
  const { misbehave = {} } = turn;
  if (misbehave.stall === "before-headers") return;
  const requestId = `req_${request.index}`;
  const headers = { "request-id": requestId, ...turn.headers };
  const encodeError = (error: NonNullable<ServerTurn["error"]>, status: number): JsonObject =>
    request.wire === "anthropic-messages" ? anthropicError(error, status, requestId) : chatError(error, status);
  const status = turn.status ?? (turn.error === undefined ? 200 : 500);

  if (status !== 200 || turn.error !== undefined) {
    const body = misbehave.body ?? JSON.stringify(encodeError(turn.error ?? { message: `status ${status}` }, status));
    response.writeHead(status, { "content-type": misbehave.contentType ?? "application/json", ...headers });
    response.end(body);
    return;
  }
  const encoded = request.wire === "anthropic-messages" ? encodeAnthropicTurn(turn, request) : encodeChatTurn(turn, request);
  const streamed = request.streamed && misbehave.wholeJson !== true;
  response.writeHead(200, { "content-type": misbehave.contentType ?? (streamed ? "text/event-stream" : "application/json"), ...headers });
  if (misbehave.stall === "before-body") {
    response.flushHeaders();
    return;
  }
  const body = misbehave.body ?? (streamed ? undefined : JSON.stringify(encoded.whole));
  const text = body === undefined ? streamText(encoded, turn, encodeError) : [body];
  await send(text, misbehave, response);
}

/** The stream of a turn, event by event, with the misbehaviour that shows in its text. */
function* streamText(
  encoded: EncodedTurn,
  turn: ServerTurn,
  encodeError: (error: { message: string; type?: string; code?: string }, status: number) => JsonObject,
): Generator<string> {
  const { misbehave = {} } = turn;
  const newline = misbehave.lineEnd ?? "\n";
  const frame = ({ name, data }: Pick<ServerEvent, "name" | "data">): string =>
    misbehave.bare === true
      ? `data:${data}${newline}${newline}`
      : `${name === "" ? "" : `event: ${name}${newline}`}data: ${data}${newline}${newline}`;
  const events = encoded.events.filter(
    (event) =>
      !(event.role === "finish" && misbehave.omitFinish === true) &&
      !(event.role === "end" && (misbehave.omitEnd === true || misbehave.omitFinish === true)),
  );
  const middle = Math.floor(events.length / 2);
  let inflated = false;
  for (const [at, event] of events.entries()) {
    if (misbehave.comments === true) yield `: keep-alive${newline}${at % 2 === 0 ? newline : ""}`;
    if (misbehave.pings === true)
      yield frame(event.name === "" ? { name: "", data: `{"choices":[]}` } : { name: "ping", data: `{"type":"ping"}` });
    if (at === middle && misbehave.errorInStream !== undefined)
      yield frame({ name: "error", data: JSON.stringify(encodeError(misbehave.errorInStream, 500)) });
    if (at === middle && misbehave.garbage !== undefined) yield frame({ name: "", data: misbehave.garbage });
    yield frame(event);
    if (misbehave.hugeTextBytes !== undefined && !inflated && /"text_delta"|"content":"[^"]/.test(event.data)) {
      inflated = true;
      for (let sent = 0; sent < misbehave.hugeTextBytes; sent += event.data.length) yield frame(event);
    }
  }
}

async function send(text: Iterable<string>, misbehave: NonNullable<ServerTurn["misbehave"]>, response: ServerResponse): Promise<void> {
  let left = misbehave.resetAfterBytes ?? (misbehave.stall === "in-body" ? halfOf((text = [...text])) : Number.POSITIVE_INFINITY);
  for (const piece of text) {
    let bytes = Buffer.from(piece);
    const cut = bytes.length > left;
    if (cut) bytes = bytes.subarray(0, left);
    left -= bytes.length;
    const size = misbehave.chunkBytes ?? Math.max(1, bytes.length);
    for (let at = 0; at < bytes.length; at += size) {
      if (response.destroyed) return;
      const last = cut && at + size >= bytes.length;
      if (last) await new Promise((written) => response.write(bytes.subarray(at, at + size), written));
      // Chunks that go out in one turn would arrive as one.
      else if (!response.write(bytes.subarray(at, at + size))) await Promise.race([once(response, "drain"), once(response, "close")]);
      else if (misbehave.chunkBytes !== undefined) await new Promise((next) => setImmediate(next));
    }
    if (!cut && left > 0) continue;
    if (misbehave.resetAfterBytes !== undefined) response.socket?.resetAndDestroy();
    return;
  }
  response.end();
}

function halfOf(text: readonly string[]): number {
  return Math.floor(text.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0) / 2);
}

function reply(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
