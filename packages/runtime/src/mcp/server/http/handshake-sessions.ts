import type { AuthInfo, McpServer as SdkMcpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { randomId } from "../../../json/random-id.ts";
import type { ServerCore } from "../server-core.ts";
import { createSdkServer } from "../sdk-server.ts";

interface Connection {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: SdkMcpServer;
  readonly principal: string | undefined;
  /** The client that began it: sessions of one client never push out those of a client with fewer. */
  readonly client: string;
  usedAt: number;
  /** Requests that are being answered. */
  open: number;
}

/** A response, whose body may take long. `sent` is called when it is out, or nobody reads it. */
export interface Answer {
  readonly response: Response;
  sent(): void;
}

export interface HandshakeLimits {
  readonly maxSessions: number;
  readonly idleMs: number;
  readonly now: () => number;
}

/** Connections of the handshake revisions, which last over many requests of HTTP. */
export class HandshakeSessions {
  readonly #core: ServerCore;
  readonly #limits: HandshakeLimits;
  readonly #connections = new Map<string, Connection>();

  constructor(core: ServerCore, limits: HandshakeLimits) {
    this.#core = core;
    this.#limits = limits;
  }

  get size(): number {
    return this.#connections.size;
  }

  async handle(
    request: Request,
    body: unknown,
    { authInfo, client }: { readonly authInfo: AuthInfo | undefined; readonly client: string },
  ): Promise<Answer> {
    this.forgetIdle();
    const id = request.headers.get("mcp-session-id");
    const options = { ...(body !== undefined && { parsedBody: body }), ...(authInfo !== undefined && { authInfo }) };
    if (id !== null) {
      const connection = this.#connections.get(id);
      // Of another client it is none: who knows its id learns not even that it is there.
      if (connection === undefined || connection.principal !== authInfo?.clientId)
        return refused(404, -32001, "There is no such session. Begin anew with initialize.");
      return await this.#answer(connection, request, options);
    }
    if (request.method !== "POST" || !isInitialize(body))
      return refused(400, -32000, "Name the session in the header Mcp-Session-Id, or begin one with initialize.");
    if (this.#connections.size >= this.#limits.maxSessions && !this.#makeRoom(client))
      return refused(503, -32000, "The server has as many sessions as it takes. Come back later.");
    return await this.#answer(await this.#connect(authInfo?.clientId, client), request, options);
  }

  async #answer(connection: Connection, request: Request, options: object): Promise<Answer> {
    connection.usedAt = this.#limits.now();
    connection.open += 1;
    const sent = (): void => {
      connection.open -= 1;
      connection.usedAt = this.#limits.now();
    };
    try {
      return { response: await connection.transport.handleRequest(request, options), sent };
    } catch (error) {
      sent();
      throw error;
    }
  }

  async #connect(principal: string | undefined, client: string): Promise<Connection> {
    const { sdk } = await this.#core.load();
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomId,
      onsessioninitialized: (id) => void this.#connections.set(id, connection),
      onsessionclosed: (id) => void this.#connections.delete(id),
    });
    const server = await createSdkServer(this.#core, { era: "legacy", tells: true });
    const connection: Connection = { transport, server, principal, client, usedAt: this.#limits.now(), open: 0 };
    await server.connect(transport);
    return connection;
  }

  /** Those that nobody used for long; called with every request, so that no timer is needed. */
  forgetIdle(): void {
    const before = this.#limits.now() - this.#limits.idleMs;
    for (const [id, connection] of this.#connections) if (connection.usedAt < before && connection.open === 0) this.#drop(id, connection);
  }

  /** Drops a session of the client that has the most: the one that rested longest, or else, for another client, one that is in use. */
  #makeRoom(client: string): boolean {
    const byClient = Map.groupBy(this.#connections, ([, connection]) => connection.client);
    const [[owner, sessions] = ["", []]] = [...byClient].sort(([, one], [, other]) => other.length - one.length);
    const oldest = sessions.toSorted(([, a], [, b]) => a.usedAt - b.usedAt);
    const isGreedy = owner !== client && sessions.length > (byClient.get(client)?.length ?? 0) + 1;
    const dropped = oldest.find(([, { open }]) => open === 0) ?? (isGreedy ? oldest[0] : undefined);
    if (dropped !== undefined) this.#drop(...dropped);
    return dropped !== undefined;
  }

  #drop(id: string, { server }: Connection): void {
    this.#connections.delete(id);
    server.close().catch((error: unknown) => this.#core.onError(error instanceof Error ? error : new Error(String(error))));
  }

  async close(): Promise<void> {
    const all = [...this.#connections.values()];
    this.#connections.clear();
    await Promise.allSettled(all.map(({ server }) => server.close()));
  }
}

function isInitialize(body: unknown): boolean {
  const first = Array.isArray(body) ? (body as readonly unknown[])[0] : body;
  return typeof first === "object" && first !== null && (first as { method?: unknown }).method === "initialize";
}

function refused(status: number, code: number, message: string): Answer {
  return { response: Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status }), sent() {} };
}
