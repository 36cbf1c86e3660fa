import { McpError } from "@keelson/protocol";
import { createMcpManager, type McpNotice } from "keelson/mcp";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { describe, expect, it, vi } from "vitest";
import { manualClock } from "../wires/manual-clock.ts";
import { answerOverSse, answerWith, readBody, serve, serveHttp } from "./http-servers.ts";
import { call, place } from "./places.ts";
import { createSdkServer } from "./sdk-server.ts";

describe("a server over HTTP", () => {
  it("is called with its token and headers, expanded and resolved [AP-17, MT-01, MT-03]", async () => {
    await using server = await serveHttp();
    await using manager = createMcpManager({
      servers: {
        one: { type: "http", url: "${MCP_URL}", authToken: "vault:token", headers: { "x-team": "${TEAM:-none}" } },
      },
      variables: { MCP_URL: server.url },
      secrets: { resolve: async (reference) => `resolved ${reference}` },
    });
    expect(await manager.callTool("one", "add", { a: 1, b: 2 })).toMatchObject({ content: [{ text: "3" }] });
    expect(manager.status("one")).toMatchObject({ state: "connected", protocolVersion: "2026-07-28", callsSucceeded: 1 });
    expect(server.requests.at(-1)).toMatchObject({ "authorization": "Bearer resolved vault:token", "x-team": "none" });
  });

  it("asks, shows progress and changes its tools as others do", async () => {
    await using server = await serveHttp();
    await using manager = createMcpManager({ servers: { one: { type: "http", url: server.url } } });
    await using source = await manager.toolSource({ startupWaitMs: 1 }).open(place());
    await source.ready;
    const ask = async () => ({ type: "provided", value: { city: "Oslo" } }) as const;
    expect(await call(source, "mcp__one__book", {}, { ask })).toBe('accept: {"city":"Oslo"}');
    const steps: unknown[] = [];
    await call(source, "mcp__one__steps", {}, { progress: (message) => void steps.push(message) });
    expect(steps).toEqual(["step 1", "step 2"]);
  });

  it("has resources, prompts and completions, which programs use by the connection", async () => {
    await using server = await serveHttp();
    const notices: McpNotice[] = [];
    await using manager = createMcpManager({
      servers: { one: { type: "http", url: server.url } },
      onNotice: (_, notice) => void notices.push(notice),
    });
    const one = manager.transport("one");
    expect(await one.listResources()).toMatchObject([{ uri: "note://1" }]);
    expect(await one.listResourceTemplates()).toEqual([]);
    expect(await one.readResource("note://1")).toEqual([{ uri: "note://1", mimeType: "text/plain", text: "First" }]);
    expect(await one.listPrompts()).toMatchObject([{ name: "greet", arguments: [{ name: "name", required: true }] }]);
    expect(await one.getPrompt("greet", { name: "Ada" })).toEqual([{ role: "user", content: { type: "text", text: "Greet Ada." } }]);
    await expect(one.readResource("note://none")).rejects.toThrow(McpError);
  });

  it("that does not know the token is reported as such", async () => {
    await using server = await serve((_, response) => void response.writeHead(401).end());
    await using manager = createMcpManager({ servers: { one: { type: "http", url: server.url, authToken: "wrong" } } });
    await expect(manager.callTool("one", "add")).rejects.toSatisfy((error) => McpError.is(error, "unauthorized"));
  });

  it("has all of its time to say which revision it speaks, unlike a program, which may not answer at all", async () => {
    const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
    const { promise: enough, resolve: answer } = Promise.withResolvers<void>();
    const handler = createMcpHandler(() => createSdkServer());
    await using slow = await serve(async (request, response) => {
      isAsked();
      const body = await readBody(request);
      await enough;
      await answerWith(handler, request, body, response);
    });
    await using manager = createMcpManager({ servers: { one: { type: "http", url: slow.url } }, clock: manualClock() });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const starting = manager.startAll();
      await asked;
      await vi.advanceTimersByTimeAsync(20_000);
      answer();
      vi.useRealTimers();
      await starting;
      expect(manager.status("one").state).toBe("connected");
    } finally {
      vi.useRealTimers();
    }
  });

  it("that ends its answer too early fails the call at once", async () => {
    await using server = await serve(async (request, response) => {
      const { id, method } = JSON.parse((await readBody(request)) || "{}") as { readonly id?: number; readonly method?: string };
      if (id === undefined) return void response.writeHead(202).end();
      const head = { "content-type": method === "tools/call" ? "text/event-stream" : "application/json" };
      const initialized = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } };
      response.writeHead(200, head);
      if (method === "tools/call") return void response.end(": nothing\n\n");
      response.end(
        JSON.stringify({
          jsonrpc: "2.0",
          id,
          ...(method === "initialize" ? { result: initialized } : { error: { code: -32601, message: "no" } }),
        }),
      );
    });
    await using manager = createMcpManager({ servers: { one: { type: "http", url: server.url } } });
    await expect(manager.callTool("one", "any")).rejects.toThrow(/before it was complete/);
  });

  it("that forgot its session is asked again in a new one", async () => {
    let sessions = 0;
    const called: string[] = [];
    await using server = await serve(async (request, response) => {
      if (request.method !== "POST") return void response.writeHead(405).end();
      const { id, method } = JSON.parse(await readBody(request)) as { readonly id?: number; readonly method: string };
      const session = String(request.headers["mcp-session-id"] ?? "");
      if (method === "initialize") sessions++;
      else if (method === "tools/call") called.push(session);
      if (id === undefined) return void response.writeHead(202).end();
      if (method === "tools/call" && session === "s1") return void response.writeHead(404).end();
      const results: { readonly [method: string]: object } = {
        "initialize": { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } },
        "tools/call": { content: [{ type: "text", text: "done" }] },
      };
      response.writeHead(200, { "content-type": "application/json", "mcp-session-id": `s${sessions}` });
      const answer = method in results ? { result: results[method] } : { error: { code: -32601, message: "no" } };
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
    });
    await using manager = createMcpManager({ servers: { one: { type: "http", url: server.url } } });
    expect((await manager.callTool("one", "any")).content).toEqual([{ type: "text", text: "done" }]);
    expect(called).toEqual(["s1", "s2"]);
  });

  it("is told that a session is over, and not waited for where it does not care", async () => {
    const clock = manualClock();
    const ended: unknown[] = [];
    await using server = await serve(async (request, response) => {
      if (request.method === "DELETE") return void ended.push(request.headers["mcp-session-id"]);
      if (request.method !== "POST") return void response.writeHead(405).end();
      const { id, method } = JSON.parse(await readBody(request)) as { readonly id?: number; readonly method: string };
      if (id === undefined) return void response.writeHead(202).end();
      const result = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "x", version: "1" } };
      const answer = method === "initialize" ? { result } : { error: { code: -32601, message: "no" } };
      response
        .writeHead(200, { "content-type": "application/json", "mcp-session-id": "s1" })
        .end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
    });
    await using manager = createMcpManager({ servers: { one: { type: "http", url: server.url } }, clock });
    await manager.startAll();
    const stopping = manager.stopAll();
    await expect.poll(() => ended).toEqual(["s1"]);
    await clock.advance(2000);
    await stopping;
    expect(manager.status("one").state).toBe("disconnected");
  });

  it("is spoken with over the transport before this one, too [AP-20, MT-01]", async () => {
    await using server = await serve(answerOverSse());
    await using manager = createMcpManager({ servers: { old: { type: "sse", url: server.url.replace("/mcp", "/sse"), authToken: "t" } } });
    await using source = await manager.toolSource({ startupWaitMs: 1 }).open(place());
    await source.ready;
    expect(await call(source, "mcp__old__hello")).toBe("Hello!");
    expect(manager.status("old").protocolVersion).toBe("2024-11-05");
    expect(server.requests.every(({ authorization }) => authorization === "Bearer t")).toBe(true);
  });
});
