import { once } from "node:events";
import { request } from "node:http";
import { connect as connectSocket } from "node:net";
import { AgentError, McpError } from "@keelson/protocol";
import { createMcpServer, serveMcpHttp, type ServeMcpHttpOptions } from "keelson/mcp";
import { defineTool } from "keelson/tools";
import { describe, expect, it } from "vitest";
import { connect, ERAS } from "./connect.ts";

const TOKEN = "a-token-that-nobody-guesses";
const echo = defineTool({
  name: "echo",
  description: "Says it again.",
  effect: "read",
  input: { type: "object", properties: { text: { type: "string" } } },
  execute: ({ text }) => String(text),
});
const newServer = () => createMcpServer({ name: "test", version: "1.0.0", tools: [echo] });
const serve = (options: ServeMcpHttpOptions = {}) => serveMcpHttp(newServer(), options);

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly body: string;
}

/** Posts with whatever headers, `Host` among them, which `fetch` would not let one set. */
function post(url: string, body: string, headers: { readonly [name: string]: string } = {}, method = "POST"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const all = { "content-type": "application/json", "accept": "application/json, text/event-stream", ...headers };
    const asked = request(url, { method, headers: all }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString() }),
      );
      response.on("error", reject);
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

const initialize = (url: string, headers: { readonly [name: string]: string } = {}) => post(url, JSON.stringify(INITIALIZE), headers);

describe("who is let in", () => {
  it("lets a client in that shows the token, and tells others where to get one", async () => {
    const protectedResource = { authorizationServers: ["https://login.example"], scopes: ["mcp"] };
    await using http = await serve({ authenticate: TOKEN, protectedResource });
    const without = await initialize(http.url);
    expect(without.status).toBe(401);
    const metadata = `http://127.0.0.1:${http.port}/.well-known/oauth-protected-resource/mcp`;
    expect(without.headers["www-authenticate"]).toBe(`Bearer resource_metadata="${metadata}"`);
    const told = await post(metadata, "", {}, "GET");
    expect(JSON.parse(told.body)).toMatchObject({
      resource: http.url,
      authorization_servers: ["https://login.example"],
      scopes_supported: ["mcp"],
    });
    const wrong = await initialize(http.url, { authorization: `Bearer ${TOKEN}x` });
    expect(wrong.status).toBe(401);
    expect(wrong.headers["www-authenticate"]).toContain('error="invalid_token"');
    expect((await initialize(http.url, { authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    expect((await initialize(http.url, { authorization: `Basic ${TOKEN}` })).status).toBe(401);
  });

  it("tells of the address that clients see, where that is one in front of it", async () => {
    const protectedResource = { authorizationServers: ["https://login.example"], resource: "https://api.example/ours/mcp" };
    await using http = await serve({ authenticate: TOKEN, protectedResource });
    const path = "/.well-known/oauth-protected-resource/ours/mcp";
    const { headers } = await initialize(http.url);
    expect(headers["www-authenticate"]).toBe(`Bearer resource_metadata="https://api.example${path}"`);
    const told = await post(`http://127.0.0.1:${http.port}${path}`, "", {}, "GET");
    expect(JSON.parse(told.body)).toMatchObject({ resource: "https://api.example/ours/mcp" });
    await expect(serve({ authenticate: TOKEN, protectedResource: { ...protectedResource, resource: "ours" } })).rejects.toThrow(
      /protectedResource.*`resource`.*address of the server/,
    );
  });

  it("asks a function who it is, for how long and with which scopes", async () => {
    const principals: { readonly [token: string]: object } = {
      good: { id: "ada", scopes: ["mcp"] },
      old: { id: "ada", scopes: ["mcp"], expiresAt: 999 },
      weak: { id: "bob", scopes: [] },
    };
    const authenticate = async (token: string) => principals[token] as { id: string } | undefined;
    await using http = await serve({ authenticate, requiredScopes: ["mcp"], now: () => 1_000 });
    const status = async (token: string) => (await initialize(http.url, { authorization: `Bearer ${token}` })).status;
    expect([await status("good"), await status("old"), await status("weak"), await status("unknown")]).toEqual([200, 401, 403, 401]);
  });

  it("refuses other hosts and pages of elsewhere before anything else, so that no name can be pointed here", async () => {
    await using http = await serve({ authenticate: TOKEN });
    for (const headers of [
      { host: "evil.example" },
      { origin: "https://evil.example" },
      { origin: "null" },
      { host: "evil.example:80", origin: "http://localhost" },
    ])
      expect((await initialize(http.url, headers)).status, JSON.stringify(headers)).toBe(403);
    const allowed = { authorization: `Bearer ${TOKEN}`, origin: "http://localhost:5173" };
    const page = await initialize(http.url, allowed);
    expect([page.status, page.headers["access-control-allow-origin"]]).toEqual([200, "http://localhost:5173"]);
    const preflight = await post(http.url, "", { origin: "http://localhost:5173" }, "OPTIONS");
    expect([preflight.status, preflight.headers["access-control-allow-methods"]]).toEqual([204, "GET, POST, DELETE"]);
  });

  it("goes by the names that it was given", async () => {
    await using http = await serve({ allowedHosts: ["mcp.example"], allowedOrigins: ["https://app.example"] });
    expect((await initialize(http.url)).status).toBe(403);
    expect((await initialize(http.url, { host: "mcp.example" })).status).toBe(200);
    expect((await initialize(http.url, { host: "mcp.example", origin: "https://app.example" })).status).toBe(200);
    expect((await initialize(http.url, { host: "mcp.example", origin: "http://localhost" })).status).toBe(403);
  });

  it("does not let one client use the session of another", async () => {
    const authenticate = (token: string) => ({ id: token });
    await using http = await serve({ authenticate });
    const opened = await initialize(http.url, { authorization: "Bearer ada" });
    const session = String(opened.headers["mcp-session-id"]);
    const ping = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" });
    const as = async (token: string) =>
      (await post(http.url, ping, { "authorization": `Bearer ${token}`, "mcp-session-id": session })).status;
    expect([await as("bob"), await as("ada")]).toEqual([404, 200]);
  });
});

describe("how much it takes", () => {
  it("tells a client that asks too much when to come back", async () => {
    let now = 0;
    await using http = await serve({ rateLimit: { perMinute: 60, burst: 2 }, now: () => now });
    const get = () => post(http.url, "{}");
    await get();
    await get();
    const refused = await get();
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "1"]);
    now += 1_000;
    expect((await get()).status).not.toBe(429);
  });

  it("counts requests with wrong tokens apart from those that are let in", async () => {
    await using http = await serve({ authenticate: TOKEN, rateLimit: { perMinute: 60, burst: 3 }, now: () => 0 });
    const wrong = async () => (await initialize(http.url, { authorization: "Bearer wrong" })).status;
    const right = async () => (await initialize(http.url, { authorization: `Bearer ${TOKEN}` })).status;
    expect([await wrong(), await wrong(), await wrong(), await wrong(), await wrong()]).toEqual([401, 401, 401, 429, 429]);
    expect([await right(), await right(), await right(), await right()]).toEqual([200, 200, 200, 429]);
  });

  it("counts the requests of each principal apart", async () => {
    const authenticate = (token: string) => ({ id: token });
    await using http = await serve({ authenticate, rateLimit: { perMinute: 60, burst: 1 }, now: () => 0 });
    const as = async (token: string) => (await initialize(http.url, { authorization: `Bearer ${token}` })).status;
    expect([await as("ada"), await as("ada"), await as("bob")]).toEqual([200, 429, 200]);
  });

  it.each([
    ["half a head", "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"],
    ["nothing", ""],
    ["half a body and no token", "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{"],
    ["half a body", `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 100\r\n\r\n{`],
  ])("lets clients in beside connections that send %s", async (_, sent) => {
    await using http = await serve({ authenticate: TOKEN, maxConnections: 4 });
    const sockets = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const socket = connectSocket(http.port, "127.0.0.1");
        socket.on("error", () => {});
        await once(socket, "connect");
        socket.write(sent);
        return socket;
      }),
    );
    expect((await initialize(http.url, { authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  it("closes no connection in which a call is answered for a new one", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const slow = defineTool({
      name: "slow",
      description: "Waits.",
      effect: "read",
      input: { type: "object" },
      async execute() {
        begin();
        await released;
        return "done";
      },
    });
    await using http = await serveMcpHttp(createMcpServer({ name: "test", version: "1.0.0", tools: [slow] }), { maxConnections: 2 });
    const opened = await initialize(http.url);
    const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "slow", arguments: {} } };
    const answered = post(http.url, JSON.stringify(call), { "mcp-session-id": String(opened.headers["mcp-session-id"]) });
    await begun;
    const sockets = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const socket = connectSocket(http.port, "127.0.0.1");
        socket.on("error", () => {});
        await once(socket, "connect");
        return socket;
      }),
    );
    release();
    expect((await answered).body).toContain("done");
    for (const socket of sockets) socket.destroy();
  });

  it("drops no session of a client for one that has more", async () => {
    const authenticate = (token: string) => ({ id: token });
    await using http = await serve({ authenticate, maxSessions: 3 });
    const open = async (token: string) =>
      String((await initialize(http.url, { authorization: `Bearer ${token}` })).headers["mcp-session-id"]);
    const ping = async (token: string, session: string) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" });
      return (await post(http.url, body, { "authorization": `Bearer ${token}`, "mcp-session-id": session })).status;
    };
    const good = await open("ada");
    for (let opened = 0; opened < 8; opened++) await open("mallory");
    expect(await ping("ada", good)).toBe(200);
  });

  it("refuses bodies that are too large, by their header and by what comes", async () => {
    await using http = await serve({ maxBodyBytes: 1_000 });
    expect((await post(http.url, "x".repeat(1_001))).status).toBe(413);
    const streamed = await post(http.url, "x".repeat(5_000), { "transfer-encoding": "chunked" }).catch((error: unknown) => error);
    expect(streamed).toMatchObject({ status: 413 });
    expect((await initialize(http.url)).status).toBe(200);
  });

  it("refuses what it can't read, and goes on", async () => {
    await using http = await serve();
    const statuses = [];
    for (const body of ["", "{", "null", "[]", "42", '{"jsonrpc":"2.0"}', '{"jsonrpc":"1.0","id":1,"method":"tools/list"}', "\u0000\u0001"])
      statuses.push((await post(http.url, body)).status);
    expect(
      statuses.every((status) => status >= 400 && status < 500),
      String(statuses),
    ).toBe(true);
    expect((await post(http.url, JSON.stringify(INITIALIZE), { "content-type": "text/plain" })).status).toBe(415);
    const ping = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" });
    expect((await post(http.url, ping, { "mcp-session-id": "none" })).status).toBe(404);
    expect((await post(http.url, ping)).status).toBe(400);
    expect((await post(http.url.replace("/mcp", "/other"), "{}")).status).toBe(404);
    expect((await initialize(http.url)).status).toBe(200);
  });

  it("keeps as many sessions as it was told to: the one that rested longest makes room", async () => {
    let now = 0;
    await using http = await serve({ maxSessions: 2, sessionIdleMs: 1_000, now: () => now });
    const ping = (session: string) =>
      post(http.url, JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" }), { "mcp-session-id": session }).then(({ status }) => status);
    const open = async () => String((await initialize(http.url)).headers["mcp-session-id"]);
    const [first, second] = [await open(), await open()];
    now += 1;
    expect(await ping(first)).toBe(200);
    const third = await open();
    expect([await ping(first), await ping(second), await ping(third)]).toEqual([200, 404, 200]);
    now += 2_000;
    expect([await ping(first), await ping(third)]).toEqual([404, 404]);
  });

  it("does not wait for ever for a client that sends no end", async () => {
    await using http = await serve({ requestTimeoutMs: 1 });
    const socket = connectSocket(http.port, "127.0.0.1");
    const closed = new Promise<string>((resolve) => {
      let said = "";
      socket.on("data", (chunk) => (said += String(chunk)));
      socket.on("close", () => resolve(said));
      socket.on("error", () => {});
    });
    socket.write("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
    expect(await closed).toMatch(/^HTTP\/1\.1 4\d\d/);
  }, 60_000);

  it("cuts a client off that reads nothing of what it asked for", async () => {
    const { promise: given, resolve: giveUp } = Promise.withResolvers<void>();
    const flood = defineTool({
      name: "flood",
      description: "Says much.",
      effect: "read",
      input: { type: "object" },
      async execute(_input, call) {
        call.signal.addEventListener("abort", () => giveUp(), { once: true });
        while (!call.signal.aborted) {
          call.progress("x".repeat(100_000));
          await new Promise((resolve) => setImmediate(resolve));
        }
        return "over";
      },
    });
    const server = createMcpServer({ name: "test", version: "1", tools: [flood] });
    await using http = await serveMcpHttp(server, { maxWaitingBytes: 1_000_000 });
    const meta = {
      "progressToken": "p",
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "flood", arguments: {}, _meta: meta } });
    const socket = connectSocket(http.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.pause();
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: flood\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    await given;
    socket.destroy();
  });
});

describe("closing", () => {
  it("answers what is asked already, and lets nobody in any more", async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise: open, resolve: go } = Promise.withResolvers<void>();
    const hold = defineTool({
      name: "hold",
      description: "Waits.",
      effect: "read",
      input: { type: "object" },
      async execute() {
        begin();
        await open;
        return "held";
      },
    });
    const server = createMcpServer({ name: "test", version: "1", tools: [hold] });
    await using connected = await connect(server, { era: "stateless" });
    const call = connected.client.callTool({ name: "hold", arguments: {} });
    await begun;
    const http = connected.close({ graceMs: 20_000 });
    go();
    expect(await call).toMatchObject({ content: [{ text: "held" }] });
    await http;
    await expect(initialize(connected.url)).rejects.toThrow(/ECONNREFUSED/);
  });

  it.each(ERAS)("does not wait for streams on which clients of the %s era only listen", async (era) => {
    await using connected = await connect(newServer(), { era });
    await connected.client.listTools();
    await connected.close({ graceMs: 120_000 });
    await expect(initialize(connected.url)).rejects.toThrow(/ECONNREFUSED/);
  });

  it("ends what serves it when the server is closed", async () => {
    const server = newServer();
    const http = await serveMcpHttp(server);
    await server.close();
    await expect(initialize(http.url)).rejects.toThrow(/ECONNREFUSED/);
  });
});

describe("options", () => {
  it("are refused with what is wrong with them", async () => {
    const problem = async (options: object) => {
      const error: unknown = await serve(options).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (!AgentError.is(error, "invalid-option")) throw new Error("it was not refused", { cause: error });
      return error.failure.option;
    };
    expect(await problem({ port: 70_000 })).toBe("port");
    expect(await problem({ host: "" })).toBe("host");
    expect(await problem({ path: "mcp" })).toBe("path");
    expect(await problem({ authenticate: "short" })).toBe("authenticate");
    expect(await problem({ authenticate: true })).toBe("authenticate");
    expect(await problem({ host: "0.0.0.0" })).toBe("authenticate");
    expect(await problem({ rateLimit: { perMinute: 0 } })).toBe("rateLimit");
    expect(await problem({ maxBodyBytes: 0 })).toBe("maxBodyBytes");
    expect(await problem({ protectedResource: {} })).toBe("protectedResource");
    await expect(serveMcpHttp({} as never)).rejects.toThrow(/must be made by createMcpServer/);
  });

  it("says which address is taken", async () => {
    await using http = await serve();
    const error: unknown = await serve({ port: http.port }).catch((thrown: unknown) => thrown);
    expect(McpError.is(error) && error.message).toMatch(new RegExp(`port ${http.port}.*Choose another port`));
  });
});
