import type * as Http from "node:http";
import type * as Https from "node:https";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { ModelError } from "@keelson/protocol";
import { contentDecoder } from "./content-decoder.ts";
import { httpAddress, withoutBrackets } from "./http-address.ts";
import type { AgentSource } from "./keep-alive-agents.ts";
import { ReadableBody } from "./readable-body.ts";
import { RequestWatch } from "./request-watch.ts";
import type { Transport, TransportResponse, TransportRequest } from "./transport.ts";
import { cancelled } from "./transport-failure.ts";

/** Room for the cookies and policies of gateways; Node's default is 16 KiB. */
const MAX_HEAD_BYTES = 64 * 1024;
/** What says where the request ends, or that it is more than a request. */
const OWN_HEADERS: ReadonlySet<string> = new Set(["content-length", "transfer-encoding", "expect", "upgrade", "trailer", "te"]);
/** What the system says of a connection that the other side has given up. */
const RESET_CODES: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE"]);

/** A request that was lost together with the kept connection that it went over: no byte of a response came. */
interface LostRequest {
  readonly lost: ModelError;
  readonly peer: Peer;
}

/** The other side of a connection. */
type Peer = Partial<Pick<Socket, "remoteAddress" | "remotePort">>;

/** Carries requests over Node's own client of HTTP. */
export function createHttpTransport(agents: AgentSource): Transport {
  return { send: (request) => send(request, agents), close: () => agents.close() };
}

async function send(request: TransportRequest, agents: AgentSource): Promise<TransportResponse> {
  const { origin, signal, resendLost } = request;
  if (signal?.aborted === true) throw cancelled(origin, signal.reason, "unsent");
  const address = httpAddress(request);
  const agent = agents.agentFor(address, origin);
  const watch = new RequestWatch(request, address.host);
  const first = await ask(request, address, agent, watch);
  if (!("lost" in first)) return first;
  // Whoever sends it again, here or later, needs a new connection.
  closeSiblings(agent, first.peer);
  // The server may have worked on a lost POST: only a caller that accepts a second one has it sent again.
  if (resendLost === undefined ? request.method !== "GET" : !resendLost(first.lost.failure)) {
    watch.fail(first.lost);
    throw first.lost;
  }
  const second = await ask(request, address, agent, watch);
  if (!("lost" in second)) return second;
  watch.fail(second.lost);
  throw second.lost;
}

/** Once. Rejects with `ModelError`. */
function ask(request: TransportRequest, address: URL, agent: Http.Agent, watch: RequestWatch): Promise<TransportResponse | LostRequest> {
  // Cancelled while nobody carried it.
  if (watch.failure !== undefined) return Promise.reject(watch.failure);
  const { promise, resolve, reject } = Promise.withResolvers<TransportResponse | LostRequest>();
  let client: Http.ClientRequest;
  try {
    client = clientRequest(request, address, agent);
  } catch (cause) {
    watch.end();
    return Promise.reject(unsendable(cause, request, address.host));
  }
  watch.onFailure((failure) => {
    client.destroy();
    reject(failure);
  });
  watch.connects();
  let bytesBefore = 0;
  let peer: Peer = {};
  client.once("socket", (socket) => {
    bytesBefore = socket.bytesRead;
    // A connection that is lost no longer knows it.
    if (client.reusedSocket) peer = { remoteAddress: socket.remoteAddress, remotePort: socket.remotePort };
    whenConnected(socket, () => watch.connected());
  });
  client.on("error", (cause) => {
    const isLost = client.reusedSocket && RESET_CODES.has(errorCode(cause)) && client.socket?.bytesRead === bytesBefore;
    if (isLost && watch.failure === undefined) resolve({ lost: watch.failureOf(cause), peer });
    else watch.broke(cause);
  });
  // Without a listener, Node says nothing of it.
  client.once("upgrade", (_response, socket) => {
    socket.destroy();
    watch.broke(new Error("it switches to another protocol, which nobody asked for"));
  });
  client.once("response", (response) => {
    watch.begun();
    resolve(transportResponse(response, client, watch));
  });
  for (const part of request.body ?? []) client.write(part);
  client.end();
  return promise;
}

function clientRequest({ method, headers, body = [] }: TransportRequest, address: URL, agent: Http.Agent): Http.ClientRequest {
  const own = Object.keys(headers).find((name) => OWN_HEADERS.has(name.toLowerCase()));
  if (own !== undefined) throw new Error(`the header ${own} is set by the transport: leave it out`);
  const bodyBytes = body.reduce((sum, part) => sum + part.length, 0);
  // Looked up with each request: who intercepts requests in a test puts a function of his own in the place of Node's.
  const { request } = address.protocol === "https:" ? https() : http();
  return request({
    protocol: address.protocol,
    hostname: withoutBrackets(address.hostname),
    port: address.port,
    path: address.pathname + address.search,
    method,
    // A GET without a body has no length (RFC 9110, 8.6).
    headers: method === "GET" && bodyBytes === 0 ? { ...headers } : { ...headers, "content-length": bodyBytes },
    agent,
    maxHeaderSize: MAX_HEAD_BYTES,
  });
}

function transportResponse(response: Http.IncomingMessage, client: Http.ClientRequest, watch: RequestWatch): TransportResponse {
  const { headers, statusCode: status = 0 } = response;
  return {
    status,
    header(name) {
      const value = headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    body: new ReadableBody(decoded(response, client), watch, { hasAll: () => response.complete, close: () => client.destroy() }),
  };
}

function decoded(response: Http.IncomingMessage, client: Http.ClientRequest): Readable {
  const encoding = response.headers["content-encoding"];
  const decoder = encoding === undefined ? undefined : contentDecoder(encoding);
  if (decoder === undefined) return response;
  // What follows the end of a compressed text is nothing to wait for.
  decoder.once("end", () => {
    if (!response.readableEnded) client.destroy();
  });
  // How it ends is told by the decoder.
  return process.getBuiltinModule("node:stream").pipeline(response, decoder, () => undefined);
}

/** Whatever connects: over a proxy and over TLS, it stands when the request can be written. */
function whenConnected(socket: Socket, told: () => void): void {
  const isSecuring = (socket as { secureConnecting?: boolean }).secureConnecting;
  if (!socket.connecting && isSecuring !== true) told();
  else socket.once(isSecuring === undefined ? "connect" : "secureConnect", told);
}

/** A server that gave up one unused connection has probably given up those beside it; the next try needs a new one. */
function closeSiblings(agent: Http.Agent, { remoteAddress, remotePort }: Peer): void {
  for (const sockets of Object.values(agent.freeSockets ?? {}))
    for (const socket of sockets ?? []) if (socket.remoteAddress === remoteAddress && socket.remotePort === remotePort) socket.destroy();
}

function unsendable(cause: unknown, { origin }: TransportRequest, host: string): ModelError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  const message = `the request to ${host} cannot be sent: ${detail}`;
  return new ModelError({ kind: "invalid-request", message, progress: "unsent", ...origin }, { cause });
}

function errorCode(cause: unknown): unknown {
  return (cause as { code?: unknown }).code;
}

function http(): typeof Http {
  return process.getBuiltinModule("node:http");
}

function https(): typeof Https {
  return process.getBuiltinModule("node:https");
}
