import type { IncomingMessage, Server as NodeServer, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { McpError } from "@keelson/protocol";
import type { AuthInfo, McpHttpHandler } from "@modelcontextprotocol/server";
import { exactMessage } from "../../exact-message.ts";
import { type McpServer, serverCore } from "../create-mcp-server.ts";
import type { ServerSdk } from "../load-server-sdk.ts";
import { createSdkServer } from "../sdk-server.ts";
import type { ServerCore } from "../server-core.ts";
import { authenticate, challenge, isRefusal, METADATA_PATH, resourceMetadata, type McpPrincipal, type Refusal } from "./authentication.ts";
import { type ConnectionLimit, limitConnections } from "./connection-limit.ts";
import { type Answer, HandshakeSessions } from "./handshake-sessions.ts";
import { createHostRules } from "./host-rules.ts";
import { checkHttpOptions, type HttpOptions, type ServeMcpHttpOptions } from "./http-options.ts";
import { readBody, refuse, sendResponse, sendText, webRequest } from "./node-exchange.ts";
import { RateLimiter } from "./rate-limiter.ts";
import { checkMethodOptions, type MethodOptions } from "../../../json/check-method-options.ts";

const HTTP_SERVER_METHODS: MethodOptions<McpHttpServer> = { close: [0, { graceMs: true }] };

export interface McpHttpServer extends AsyncDisposable {
  /** Where clients find it. */
  readonly url: string;
  readonly port: number;
  /**
   * Lets nobody in any more, waits for what is being answered, and ends the rest.
   * @param options.graceMs how long it waits. Default 5,000.
   */
  close(options?: { readonly graceMs?: number | undefined }): Promise<void>;
}

/**
 * Serves any number of clients over Streamable HTTP, in both eras of the protocol, under one address. It looks at `Host` and `Origin`, at how much a
 * client asks and how large, and at who it is, before anything is read of what it wants.
 * @throws AgentError of kind `invalid-option`; McpError where the SDK is missing or the address can't be taken
 */
export async function serveMcpHttp(server: McpServer, options: ServeMcpHttpOptions = {}): Promise<McpHttpServer> {
  const core = serverCore(server);
  const given = checkHttpOptions(options);
  const [{ createServer }, { sdk }] = await Promise.all([import("node:http"), core.load()]);
  const { requestTimeoutMs } = given;
  const node = createServer({
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(requestTimeoutMs, MAX_CHECK_INTERVAL_MS),
  });
  const connections = limitConnections(node, given.maxConnections);
  const { port, origin } = await listen(node, given);
  const service = createHttpService(core, sdk, given, { origin, connections });
  node.on("request", service.answer);
  node.on("clientError", (_error, socket) => void (socket.writable ? socket.end("HTTP/1.1 400 Bad Request\r\n\r\n") : socket.destroy()));

  let closing: Promise<void> | undefined;
  const close = (graceMs: number): Promise<void> => {
    closing ??= (async () => {
      forget();
      const closed = new Promise<void>((resolve) => void node.close(() => resolve()));
      node.closeIdleConnections();
      await service.quiet(graceMs);
      await service.close();
      node.closeAllConnections();
      await closed;
    })();
    return closing;
  };
  const forget = core.onClose(() => close(0));
  const listening: McpHttpServer = {
    url: `${origin}${given.path}`,
    port,
    close: ({ graceMs = DEFAULT_GRACE_MS } = {}) => close(graceMs),
    [Symbol.asyncDispose]: () => close(DEFAULT_GRACE_MS),
  };
  return checkMethodOptions("server", listening, HTTP_SERVER_METHODS);
}

const DEFAULT_GRACE_MS = 5_000;
/** How often Node looks for requests that take too long. */
const MAX_CHECK_INTERVAL_MS = 30_000;

async function listen(node: NodeServer, { host, port }: HttpOptions): Promise<{ readonly port: number; readonly origin: string }> {
  try {
    await new Promise<void>((resolve, reject) => {
      node.once("error", reject);
      node.listen(port, host, () => {
        node.off("error", reject);
        resolve();
      });
    });
  } catch (cause) {
    const message = `The server can't listen on ${host}, port ${port}: ${cause instanceof Error ? cause.message : String(cause)}. Choose another port, or 0 for any.`;
    throw new McpError({ kind: "other", message }, { cause });
  }
  const taken = (node.address() as AddressInfo).port;
  return { port: taken, origin: `http://${host.includes(":") ? `[${host}]` : host}:${taken}` };
}

interface HttpService {
  answer(request: IncomingMessage, response: ServerResponse): void;
  /** Resolves when nothing is being answered, and after `ms` in any case. */
  quiet(ms: number): Promise<void>;
  close(): Promise<void>;
}

function createHttpService(
  core: ServerCore,
  sdk: ServerSdk,
  options: HttpOptions,
  { origin, connections }: { readonly origin: string; readonly connections: ConnectionLimit },
): HttpService {
  const { now, path, maxBodyBytes, requiredScopes, protectedResource } = options;
  const rules = createHostRules(options);
  const newLimiter = (): RateLimiter | undefined => (options.rateLimit === false ? undefined : new RateLimiter(options.rateLimit, now));
  // Refused requests must not use up the limit of authenticated clients.
  const [strangers, clients] = [newLimiter(), newLimiter()];
  const handshakes = new HandshakeSessions(core, { maxSessions: options.maxSessions, idleMs: options.sessionIdleMs, now });
  const stateless: McpHttpHandler = sdk.createMcpHandler((context) => createSdkServer(core, { ...context, tells: false }), {
    legacy: "reject",
    maxRequestBodySize: maxBodyBytes,
    onerror: (error) => core.onError(error),
  });
  const stopTelling = core.onChange((change) => {
    switch (change.type) {
      case "tools":
        return stateless.notify.toolsChanged();
      case "resources":
        return stateless.notify.resourcesChanged();
      case "prompts":
        return stateless.notify.promptsChanged();
      case "resource":
        return stateless.notify.resourceUpdated(change.uri);
    }
  });
  const resource = new URL(protectedResource?.resource ?? `${origin}${path}`);
  // Where clients see the resource, which may be an address in front of this one (RFC 9728).
  const metadataUrl = new URL(`${METADATA_PATH}${resource.pathname === "/" ? "" : resource.pathname}`, resource);
  const metadataPaths = [METADATA_PATH, `${METADATA_PATH}${path}`, metadataUrl.pathname];
  const metadata = protectedResource === undefined ? undefined : metadataUrl.href;
  /** What is being answered. Streams that stand until one side leaves are not in it: nothing is waited for there. */
  const busy = new Map<IncomingMessage, Promise<void>>();
  let isClosing = false;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", origin);
    const problem = rules.problemWith(request.headers);
    if (problem !== undefined) return refuse(response, 403, problem);
    const cors = corsHeaders(request.headers.origin);
    for (const [name, value] of Object.entries(cors)) response.setHeader(name, value);
    const address = request.socket.remoteAddress ?? "";
    const isMetadata = protectedResource !== undefined && metadataPaths.includes(url.pathname);
    if (isClosing || request.method === "OPTIONS" || isMetadata || url.pathname !== path) {
      if (isTooMuch(strangers, address, response)) return;
      if (isClosing) return refuse(response, 503, "The server is being closed.", { connection: "close" });
      if (request.method === "OPTIONS") return void response.writeHead(204, PREFLIGHT).end();
      if (isMetadata) return sendText(response, 200, resourceMetadata(protectedResource, `${origin}${path}`));
      return refuse(response, 404, `There is nothing under ${url.pathname}. The server is under ${path}.`);
    }
    const principal = await findPrincipal(request);
    if (principal !== undefined && isRefusal(principal)) {
      if (isTooMuch(strangers, address, response)) return;
      const header = challenge(principal, { metadata, scopes: requiredScopes });
      return refuse(response, principal.status, principal.message, { "www-authenticate": header });
    }
    // Clients with a shared token are one principal: the address distinguishes them.
    const client = principal === undefined ? address : `${principal.id}\0${address}`;
    if (isTooMuch(clients, client, response)) return;
    await serve(request, response, url, { principal, client });
  }

  async function findPrincipal(request: IncomingMessage): Promise<McpPrincipal | Refusal | undefined> {
    if (options.authenticate === undefined || options.authenticate === false) return undefined;
    const head = { method: request.method ?? "", url: request.url ?? "", headers: request.headers };
    return await authenticate(options.authenticate, head, { now: now(), scopes: requiredScopes });
  }

  async function serve(request: IncomingMessage, response: ServerResponse, url: URL, { principal, client }: LetIn): Promise<void> {
    const body = await readBody(request, maxBodyBytes);
    if (body === undefined) return refuse(response, 413, `A request may have ${maxBodyBytes} bytes.`, { connection: "close" });
    response.once("close", connections.hold(request));
    const gone = new AbortController();
    response.once("close", () => gone.abort(new Error("The client is gone.")));
    const authInfo: AuthInfo | undefined =
      principal === undefined
        ? undefined
        : {
            token: "",
            clientId: principal.id,
            scopes: [...(principal.scopes ?? [])],
            ...(metadata !== undefined && { resourceMetadataUrl: metadata }),
          };
    if (standsOpen(request)) busy.delete(request);
    const { response: answered, sent } = await dispatch(webRequest(request, url, body, gone.signal), body, { authInfo, client });
    try {
      await sendResponse(answered, response, options);
    } finally {
      sent();
    }
  }

  async function dispatch(
    request: Request,
    body: Buffer,
    { authInfo, client }: { readonly authInfo: AuthInfo | undefined; readonly client: string },
  ): Promise<Answer> {
    const isJson = request.method !== "POST" || sdk.isJsonContentType(request.headers.get("content-type"));
    const parsed = isJson && request.method === "POST" ? parseJson(body) : undefined;
    // What no revision can read is refused by the one that is newest.
    if (isJson && (request.method !== "POST" || parsed !== undefined) && (await sdk.isLegacyRequest(request, parsed)))
      return await handshakes.handle(request, parsed, { authInfo, client });
    const response = await stateless.fetch(request, {
      ...(authInfo !== undefined && { authInfo }),
      ...(parsed !== undefined && { parsedBody: parsed }),
    });
    return { response, sent() {} };
  }

  return {
    answer(request, response) {
      const answering = answer(request, response).catch((error: unknown) => {
        // A client that goes before it said all is no failure of the server.
        if (!request.destroyed || request.complete) core.onError(error instanceof Error ? error : new Error(String(error)));
        refuse(response, 500, "The server failed.");
        response.destroy();
      });
      busy.set(request, answering);
      void answering.then(() => busy.delete(request));
    },
    async quiet(ms) {
      isClosing = true;
      if (ms === 0 || busy.size === 0) return;
      const timer = Promise.withResolvers<void>();
      const timeout = setTimeout(timer.resolve, ms);
      await Promise.race([Promise.all(busy.values()), timer.promise]);
      clearTimeout(timeout);
    },
    async close() {
      isClosing = true;
      stopTelling();
      await Promise.all([stateless.close(), handshakes.close()]);
    },
  };
}

/** An authenticated client. */
interface LetIn {
  readonly principal: McpPrincipal | undefined;
  /** Names it among clients, for limits. */
  readonly client: string;
}

/** Refuses a request above the rate limit. @returns true if it was refused */
function isTooMuch(limiter: RateLimiter | undefined, client: string, response: ServerResponse): boolean {
  const waitMs = limiter?.take(client) ?? 0;
  if (waitMs === 0) return false;
  refuse(response, 429, "Too many requests. Come back later.", { "retry-after": String(Math.ceil(waitMs / 1000)) });
  return true;
}

/** A stream for what changes, in either era; of the stateless one a header has to name the method. */
function standsOpen(request: IncomingMessage): boolean {
  return request.method === "GET" || request.headers["mcp-method"] === LISTEN;
}

const LISTEN = "subscriptions/listen";

const PREFLIGHT = {
  "access-control-allow-methods": "GET, POST, DELETE",
  "access-control-allow-headers": "authorization, content-type, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, last-event-id",
  "access-control-max-age": "600",
};

/** Only ever for an origin that was let in. */
function corsHeaders(origin: string | undefined): { readonly [name: string]: string } {
  if (origin === undefined) return {};
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "mcp-session-id, mcp-protocol-version, www-authenticate",
    "vary": "origin",
  };
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(exactMessage(body.toString("utf8")));
  } catch {
    return undefined;
  }
}
