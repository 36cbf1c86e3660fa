import type { ServerResponse } from "node:http";
import { createMcpManager, type McpLifecycleManager, type McpNotice } from "keelson/mcp";
import { describe, expect, it } from "vitest";
import { manualClock } from "../wires/manual-clock.ts";
import { failureOf } from "./failure-of.ts";
import { type HttpServer, serveHttp } from "./http-servers.ts";
import { event, type Script, serveScripted, text, WAITING } from "./scripted-http-server.ts";

const STREAM = { "content-type": "text/event-stream" };
const good = async (manager: McpLifecycleManager): Promise<unknown> => (await manager.callTool("one", "good")).content[0]?.["text"];
const managerOf = ({ url }: HttpServer, more: object = {}, options: object = {}): McpLifecycleManager =>
  createMcpManager({ servers: { one: { type: "http", url, authToken: "the-token", ...more } }, ...options });

/** What a call of the tool `bad` is answered with. */
const badCalls =
  (answer: Script): Script =>
  (request) =>
    request.params?.name === "bad" ? answer(request) : undefined;

describe("a server over HTTP that", () => {
  it.each([
    ["fails", "transport", badCalls(({ response }) => void response.writeHead(500).end("It broke."))],
    [
      "answers with a page",
      "protocol",
      badCalls(({ response }) => void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Hi</h1>")),
    ],
    [
      "answers with half of a message",
      "transport",
      badCalls(({ response }) => void response.writeHead(200, { "content-type": "application/json" }).end('{"jsonrpc":')),
    ],
    [
      "answers something else",
      "transport",
      badCalls(({ response }) => void response.writeHead(200, { "content-type": "application/json" }).end('{"jsonrpc":"2.0","id":[]}')),
    ],
    ["hangs up", "transport", badCalls(({ response }) => void response.destroy())],
    [
      "hangs up in the middle of an answer",
      "transport",
      badCalls(({ response }) => {
        response.writeHead(200, STREAM).write("data: {");
        setImmediate(() => response.destroy());
      }),
    ],
    ["gives no result", "protocol", badCalls(() => ({ content: "not a list" }))],
    [
      "gives an error",
      "protocol",
      badCalls(({ id, response }) => void response.writeHead(200, STREAM).end(event({ id, error: { code: -5, message: "No." } }))),
    ],
  ] as const)("%s fails that call, and no other", async (_, kind, script) => {
    await using server = await serveScripted(script);
    await using manager = managerOf(server);
    expect(await good(manager)).toBe("good");
    expect(await failureOf(manager.callTool("one", "bad"))).toMatchObject({ kind, server: "one" });
    expect(await good(manager)).toBe("good");
    expect(manager.status("one")).toMatchObject({ state: "connected", callsSucceeded: 2, callsFailed: 1 });
  });

  it("sends thousands of small notices before an answer fails the call, and is connected to again", async () => {
    const notice = event({ method: "notifications/message", params: { level: "info", data: 1 } });
    await using server = await serveScripted(
      badCalls(({ id, response }) => {
        response.writeHead(200, STREAM).end(`${notice.repeat(20_000)}${event({ id, result: text("late") })}`);
        return WAITING;
      }),
    );
    await using manager = managerOf(server);
    expect(await failureOf(manager.callTool("one", "bad"))).toMatchObject({
      kind: "transport",
      message: expect.stringMatching(/more than 5000 messages that nobody asked for/),
    });
    expect(await good(manager)).toBe("good");
  });

  it("never answers, or only says that it is there, fails the call when its time is over", async () => {
    for (const words of [[], [": still here\n\n", ": still here\n\n"]]) {
      const clock = manualClock();
      let called = (): void => {};
      const asked = new Promise<void>((resolve) => (called = resolve));
      await using server = await serveScripted(
        badCalls(({ response }) => {
          response.writeHead(200, STREAM).flushHeaders();
          for (const word of words) response.write(word);
          called();
          return WAITING;
        }),
      );
      await using manager = managerOf(server, { timeoutMs: 5000 }, { clock });
      await manager.startAll();
      const failing = failureOf(manager.callTool("one", "bad"));
      await asked;
      await clock.advance(5000);
      expect(await failing).toMatchObject({ kind: "timeout", timeoutMs: 5000 });
    }
  });

  it("does not hear that a call is cancelled costs nobody anything", async () => {
    let called = (): void => {};
    const asked = new Promise<void>((resolve) => (called = resolve));
    await using server = await serveScripted(({ method, params, response }) => {
      if (method === "notifications/cancelled") return void response.writeHead(500).end();
      if (params?.name !== "bad") return undefined;
      called();
      return WAITING;
    });
    await using manager = managerOf(server);
    const abort = new AbortController();
    const failing = failureOf(manager.callTool("one", "bad", {}, { signal: abort.signal }));
    await asked;
    abort.abort();
    expect(await failing).toMatchObject({ kind: "other", message: expect.stringMatching(/cancelled/) });
    expect(await good(manager)).toBe("good");
  });

  it("sends too much, in one message or in many, fails the call", async () => {
    await using server = await serveScripted(({ id, params, response }) => {
      if (params?.name === "large") return text("x".repeat(10_000));
      if (params?.name !== "many") return undefined;
      response.writeHead(200, STREAM);
      const told = event({ method: "notifications/message", params: { level: "info", data: "x".repeat(500) } });
      for (let times = 0; times < 40; times++) response.write(told);
      response.end(event({ id, result: text("at last") }));
    });
    await using manager = managerOf(server, { maxMessageBytes: 4000 });
    expect(await failureOf(manager.callTool("one", "large"))).toMatchObject({
      message: expect.stringMatching(/more than 4000 bytes \(`maxMessageBytes`\)/),
    });
    expect(await failureOf(manager.callTool("one", "many"))).toMatchObject({
      message: expect.stringMatching(/more than 16000 bytes before an answer/),
    });
    expect(await good(manager)).toBe("good");
  });

  it("answers twice, and what nobody asked, is heard once", async () => {
    await using server = await serveScripted(
      badCalls(({ id, response }) => {
        const answers = [
          { id: 99_999, result: text("nobody asked") },
          { id, result: text("first") },
          { id, result: text("second") },
        ];
        response.writeHead(200, STREAM).end(answers.map((answer) => event(answer)).join(""));
      }),
    );
    await using manager = managerOf(server);
    expect((await manager.callTool("one", "bad")).content).toEqual([{ type: "text", text: "first" }]);
    expect(await good(manager)).toBe("good");
  });

  it("is not there at first is tried again, later", async () => {
    const clock = manualClock();
    let isThere = false;
    await using server = await serveScripted(({ response }) => (isThere ? undefined : void response.writeHead(503).end("Not yet.")));
    await using manager = managerOf(server, {}, { clock, random: () => 0 });
    await manager.startAll();
    expect(manager.status("one")).toMatchObject({ state: "reconnecting", problems: [expect.stringMatching(/Not yet/)] });
    isThere = true;
    await clock.advance(500);
    await expect.poll(() => manager.status("one").state).toBe("connected");
  });

  it("sends elsewhere is followed within its origin only, and its token goes to nobody else", async () => {
    await using stranger = await serveScripted(() => undefined);
    let where = "";
    await using server = await serveScripted(({ response }) =>
      where === "" ? undefined : void response.writeHead(307, { location: where }).end(),
    );
    await using manager = managerOf(server, { headers: { "x-key": "a-key" } });
    expect(await good(manager)).toBe("good");
    for (where of [stranger.url, "//127.0.0.2:9/mcp", "file:///etc/passwd"])
      expect(await failureOf(good(manager))).toMatchObject({ kind: "transport", message: expect.stringMatching(/redirect/) });
    expect(stranger.requests).toEqual([]);
    where = "";
    expect(await good(manager)).toBe("good");
  });

  it("loses an answer that can be asked for again is asked for the rest of it", async () => {
    const clock = manualClock();
    const rest: unknown[] = [];
    await using server = await serveScripted(({ method, id, params, headers, response }) => {
      if (method === "GET" && headers["last-event-id"] !== undefined) {
        rest.push(headers["last-event-id"]);
        response.writeHead(200, STREAM).end(event({ id: 2, result: text("the rest") }, "e2"));
      } else if (params?.name === "bad") {
        expect(id).toBe(2);
        response.writeHead(200, STREAM).end(event({ method: "notifications/message", params: { level: "info", data: "so far" } }, "e1"));
      }
    });
    await using manager = managerOf(server, {}, { clock });
    expect(await good(manager)).toBe("good");
    const waiting = manager.callTool("one", "bad");
    await expect.poll(async () => (await clock.advance(1000), rest)).toEqual(["e1"]);
    expect((await waiting).content).toEqual([{ type: "text", text: "the rest" }]);
  });

  it("loses an answer for good fails the call when that is known", async () => {
    const clock = manualClock();
    await using server = await serveScripted(({ method, params, headers, response }) => {
      if (method === "GET" && headers["last-event-id"] !== undefined) response.writeHead(500).end();
      else if (params?.name === "bad")
        response.writeHead(200, STREAM).end(event({ method: "notifications/message", params: { level: "info", data: 1 } }, "e1"));
    });
    await using manager = managerOf(server, { timeoutMs: 3_600_000 }, { clock });
    await manager.startAll();
    let failure: unknown;
    void failureOf(manager.callTool("one", "bad")).then((failed) => (failure = failed));
    await expect.poll(async () => (await clock.advance(1000), failure)).toMatchObject({ kind: "transport" });
  });

  it("forgets every session is not asked for ever", async () => {
    let calls = 0;
    await using server = await serveScripted(({ method, response }) =>
      method === "tools/call" ? void (calls++, response.writeHead(404).end()) : undefined,
    );
    await using manager = managerOf(server);
    expect(await failureOf(good(manager))).toMatchObject({ kind: "transport" });
    expect(calls).toBe(2);
  });

  it("forgets its session is told again what is wanted of it", async () => {
    const subscribed: unknown[] = [];
    let isForgotten = false;
    await using server = await serveScripted(({ method, params, response }) => {
      if (method === "resources/subscribe") return (subscribed.push(params?.["uri"]), {});
      if (method === "tools/call" && isForgotten) return ((isForgotten = false), void response.writeHead(404).end());
    });
    const notices: McpNotice[] = [];
    await using manager = managerOf(server, {}, { onNotice: (_: string, notice: McpNotice) => void notices.push(notice) });
    await manager.transport("one").subscribe("note://1");
    isForgotten = true;
    expect(await good(manager)).toBe("good");
    await expect.poll(() => notices).toContainEqual({ type: "resource-updated", uri: "note://1" });
    expect(subscribed).toEqual(["note://1", "note://1"]);
  });

  it("ends what it tells of changes by is listened to again, and all counts as changed", async () => {
    const clock = manualClock();
    const listening: ServerResponse[] = [];
    await using server = await serveHttp((body, response) => void (body.includes("subscriptions/listen") && listening.push(response)));
    const notices: McpNotice[] = [];
    await using manager = managerOf(server, {}, { clock, onNotice: (_: string, notice: McpNotice) => void notices.push(notice) });
    await manager.startAll();
    await manager.transport("one").subscribe("note://1");
    expect([listening.length, notices]).toEqual([2, []]);
    for (const response of listening) response.destroy();
    await expect
      .poll(async () => (await clock.advance(1000), notices))
      .toEqual(expect.arrayContaining([{ type: "tools-changed" }, { type: "resource-updated", uri: "note://1" }]));
    expect(listening).toHaveLength(4);
    expect(manager.status("one").state).toBe("connected");
  });
});
