import { createServer, type IncomingMessage, request as httpRequest, type Server, type ServerResponse } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { EnvironmentError, type HostVerdict } from "@keelson/protocol";
import type { PlaceholderSecrets } from "../../secrets/placeholder-secrets.ts";
import type { NetworkPolicyConfig } from "../sandbox-policy.ts";
import { readServerName } from "./client-hello.ts";
import { connected } from "./connected.ts";
import { firstBytes } from "./first-bytes.ts";
import { type ForwardedHeaders, framingOf, headersOfRequest, headersOfResponse } from "./forwarded-headers.ts";
import { normalHost } from "./host-pattern.ts";
import { createNetworkRules } from "./network-rules.ts";
import { messageOf, Refusal, Unreachable } from "./refusal.ts";
import { publicAddressesOf, type ResolveHost } from "./resolve-host.ts";

/** Connects to an address. For hosts that reach the internet through something else, and for tests. */
export type Dial = (address: string, port: number) => Socket;

/** A connection that a command asked for. */
export interface NetworkDecision {
  readonly host: string;
  readonly port: number;
  /** Absent: it was allowed. */
  readonly refused?: string;
  /** True if it was refused only because the policy does not list the host, so that a person may open it. */
  readonly isUnlisted?: true;
}

export interface FilteringProxyOptions {
  readonly resolve?: ResolveHost | undefined;
  readonly dial?: Dial | undefined;
  /** Secrets of which commands have placeholders: values stand in the headers of plain HTTP requests from here on, and of no others. */
  readonly secrets?: PlaceholderSecrets | undefined;
  /** Told of every connection that is asked for, before it is made. */
  readonly onDecision?: ((decision: NetworkDecision) => void) | undefined;
}

/** The options of a proxy, and what is said of a host at the moment of each connection, beside the policy. */
export interface JudgedProxyOptions extends FilteringProxyOptions {
  readonly judge?: ((host: string, port: number) => HostVerdict) | undefined;
}

/** Takes connections of sandboxed programs. */
export interface FilteringProxy {
  accept(socket: Socket): void;
  /** Ends all connections. */
  close(): void;
}

const MAX_CONNECTIONS = 256;
const IDLE_MS = 5 * 60_000;
// From the connection, or the end of the last response, to the end of a request's headers, and to the first words in a tunnel.
const HEADERS_MS = 60_000;

/**
 * An HTTP proxy that lets through what the policy allows. It resolves names itself, refuses addresses that aren't public, and connects to
 * the very addresses it checked. A tunnel has to begin with TLS for the host that was asked for, unless a rule names its port; what is
 * said inside of TLS is not seen, so that placeholders of secrets pass through it as they are.
 */
export function createFilteringProxy(policy: NetworkPolicyConfig, options: JudgedProxyOptions = {}): FilteringProxy {
  const { resolve, secrets, dial = (address, port) => connect({ host: address, port }) } = options;
  const rules = createNetworkRules(policy, options.judge);
  const note = (host: string, port: number, refused: string): void =>
    options.onDecision?.({ host, port, refused, ...(rules.isUnlisted(host, port) && { isUnlisted: true }) });
  const open = new Set<Socket>();
  /** Hosts of tunnels in which plain HTTP is spoken. */
  const tunnelled = new WeakMap<Socket, string>();

  const track = (socket: Socket): Socket => {
    open.add(socket);
    socket.setTimeout(IDLE_MS, () => socket.destroy());
    socket.once("close", () => open.delete(socket));
    return socket;
  };

  // The HTTP server keeps such a time only for connections that it took itself.
  const deadlines = new Map<Socket, NodeJS.Timeout>();
  const awaitWords = (socket: Socket): void => {
    if (!socket.destroyed)
      deadlines.set(
        socket,
        setTimeout(() => socket.destroy(), HEADERS_MS),
      );
  };
  const hasSpoken = (socket: Socket): void => {
    clearTimeout(deadlines.get(socket));
    deadlines.delete(socket);
  };
  /** Requests of a client that are being answered: it may send the next one before. */
  const answering = new WeakMap<Socket, number>();
  const countAnswering = (socket: Socket, change: 1 | -1): void => {
    const count = (answering.get(socket) ?? 0) + change;
    answering.set(socket, count);
    if (count > 0) hasSpoken(socket);
    else awaitWords(socket);
  };

  /** @throws Refusal */
  const connectTo = async (host: string, port: number): Promise<Socket> => {
    const refuse = (reason: string): never => {
      options.onDecision?.({ host, port, refused: reason });
      throw new Refusal(reason);
    };
    const refusal = rules.refusal(host, port);
    if (refusal !== undefined) {
      note(host, port, refusal);
      throw new Refusal(refusal);
    }
    const addresses = await publicAddressesOf(host, resolve).catch((error: unknown) => refuse(messageOf(error)));
    const denied = addresses.find((address) => rules.denies(address, port));
    if (denied !== undefined) refuse(`${host} stands for ${denied}, which the policy denies`);
    options.onDecision?.({ host, port });
    let last: unknown;
    for (const address of addresses) {
      try {
        return track(await connected(dial(address, port)));
      } catch (error) {
        last = error;
      }
    }
    throw new Unreachable(`${host} can't be reached: ${messageOf(last)}`);
  };

  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const within = tunnelled.get(request.socket);
    const url = URL.parse(
      within === undefined ? (request.url ?? "") : `http://${within}${request.url?.startsWith("/") === true ? request.url : "/"}`,
    );
    if (url === null || url.protocol !== "http:" || url.username !== "" || url.password !== "")
      throw new Refusal("ask this proxy for http:// addresses, and use CONNECT for others");
    const host = normalHost(url.hostname);
    if (host === undefined) throw new Refusal(`${url.hostname} is no host`);
    if (request.headers.upgrade !== undefined) throw new Refusal("protocols that begin as HTTP can't be changed to through this proxy");
    const meant = request.headersDistinct["host"] ?? [];
    if (meant.length > 1 || (meant[0] !== undefined && URL.parse(`http://${meant[0]}`)?.host !== url.host))
      throw new Refusal(`the Host header names ${meant.join(", ")}, the address ${url.host}`);
    const framing = framingOf(request);
    const port = url.port === "" ? 80 : Number(url.port);
    const headers: ForwardedHeaders = { ...headersOfRequest(request), ...framing, host: [url.host] };
    const allowed = rules.refusal(host, port) === undefined;
    // Before anything is sent, and not for hosts that nothing may be sent to.
    const sent = secrets === undefined || !allowed ? headers : await withSecrets(secrets, url, headers);
    const socket = await connectTo(host, port);
    const upstream = httpRequest({
      // A connection for this request alone, to the address that was checked.
      createConnection: () => socket,
      method: request.method,
      path: `${url.pathname}${url.search}`,
      headers: sent,
      setHost: false,
      insecureHTTPParser: false,
    });
    response.once("close", () => socket.destroy());
    const answered = new Promise<IncomingMessage>((done, failed) => {
      upstream
        .once("response", done)
        .on("error", failed)
        // The connection ends with the response that says so.
        .once("upgrade", () => failed(new Error("it changed to another protocol, which nobody asked for")));
    });
    if (framing === undefined) upstream.end();
    else request.pipe(upstream);
    const answer = await answered.catch((error: unknown) => {
      throw new Unreachable(`${host} did not respond: ${messageOf(error)}`);
    });
    for (const [name, values] of Object.entries(headersOfResponse(answer))) response.setHeader(name, values);
    response.writeHead(answer.statusCode ?? 502);
    await pipeline(answer, response);
  };

  /** @throws Refusal for a placeholder that is on its way to a host that it isn't for */
  const withSecrets = async (placeholders: PlaceholderSecrets, url: URL, headers: ForwardedHeaders): Promise<ForwardedHeaders> => {
    try {
      return await placeholders.swap({ url, headers });
    } catch (error) {
      if (!EnvironmentError.is(error, "isolation-violation")) throw error;
      options.onDecision?.({ host: url.hostname, port: url.port === "" ? 80 : Number(url.port), refused: error.message });
      throw new Refusal(error.message.replace(/\.$/, ""));
    }
  };

  const tunnel = async (request: IncomingMessage, client: Socket, head: Buffer): Promise<void> => {
    const [, name = "", digits = ""] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(request.url ?? "") ?? [];
    const host = normalHost(name);
    if (host === undefined) throw new Refusal(`${JSON.stringify(request.url)} is no host and port`);
    const port = Number(digits);
    const refusal = rules.refusal(host, port);
    if (refusal !== undefined) {
      note(host, port, refusal);
      throw new Refusal(refusal);
    }
    if (port === 80 && !rules.isNamedPort(host, port)) {
      // Some clients ask for a tunnel for plain HTTP, too. Each request in it is looked at like any other.
      tunnelled.set(client, isIP(host) === 6 ? `[${host}]` : host);
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      client.unshift(head);
      awaitWords(client);
      server.emit("connection", client);
      return;
    }
    // Resolved and connected to before the client is answered, so that it hears of a failure as one.
    const upstream = await connectTo(host, port);
    client.once("close", () => upstream.destroy());
    // What the server said last is still on its way to the client.
    upstream.once("close", () => client.destroySoon());
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    awaitWords(client);
    const first = await firstBytes(client, head);
    hasSpoken(client);
    const seen = readServerName(first);
    // Clients name every server but one that they know by its address.
    const isMeant = seen.type === "tls" && (seen.name === undefined ? isIP(host) !== 0 : normalHost(seen.name) === host);
    if (!isMeant && !(seen.type !== "tls" && rules.isNamedPort(host, port))) {
      const refused =
        seen.type === "tls"
          ? `the tunnel to ${host} begins with TLS for ${seen.name ?? "nobody"}`
          : `the tunnel to ${host} does not begin with TLS`;
      options.onDecision?.({ host, port, refused });
      client.destroy();
      upstream.destroy();
      return;
    }
    upstream.write(first);
    client.pipe(upstream).pipe(client);
  };

  const server: Server = createServer({ insecureHTTPParser: false }, (request, response) => {
    countAnswering(request.socket, 1);
    response.once("close", () => countAnswering(request.socket, -1));
    forward(request, response).catch((error: unknown) => {
      if (response.headersSent) return void response.destroy();
      response.writeHead(statusOf(error), { "content-type": "text/plain; charset=utf-8", "connection": "close" });
      response.end(`${wordsOf(error)}\n`);
    });
  });
  server.on("connect", (request: IncomingMessage, client: Socket, head: Buffer) => {
    hasSpoken(client);
    // A client may leave at any moment.
    client.on("error", () => client.destroy());
    tunnel(request, client, head).catch((error: unknown) => {
      if (!(error instanceof Refusal || error instanceof Unreachable)) return void client.destroy();
      const words = `${wordsOf(error)}\n`;
      const status = error instanceof Refusal ? "403 Forbidden" : "502 Bad Gateway";
      client.end(
        `HTTP/1.1 ${status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(words)}\r\nconnection: close\r\n\r\n${words}`,
      );
    });
  });
  server.on("clientError", (_error, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    else socket.destroy();
  });

  return {
    accept(socket) {
      if (open.size >= MAX_CONNECTIONS) return void socket.destroy();
      socket.on("error", () => socket.destroy());
      socket.once("close", () => hasSpoken(socket));
      awaitWords(socket);
      server.emit("connection", track(socket));
    },
    close() {
      for (const socket of open) socket.destroy();
    },
  };
}

function statusOf(error: unknown): number {
  return error instanceof Refusal ? 403 : 502;
}

function wordsOf(error: unknown): string {
  return error instanceof Refusal ? `Refused by the sandbox: ${error.message}.` : `The sandbox's proxy: ${messageOf(error)}`;
}
