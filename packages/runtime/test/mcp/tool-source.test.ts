import type { ToolQuestion } from "@keelson/protocol";
import { createMcpManager } from "keelson/mcp";
import { defineTool } from "keelson/tools";
import { describe, expect, it } from "vitest";
import { manualClock } from "../wires/manual-clock.ts";
import { faultyServer, isAlive, sdkServer } from "./managers.ts";
import { call, place, toolOf } from "./places.ts";
import { createSdkServer } from "./sdk-server.ts";

/** Both eras of the protocol. */
const ERAS = [
  ["stateless", []],
  ["handshake", ["old"]],
] as const;

describe("tools of servers as tools", () => {
  it.each(ERAS)("are named, described and called as any other (%s) [EF-03, AP-13, AP-14]", async (_, args) => {
    await using manager = createMcpManager({ servers: { all: sdkServer(args) } });
    await using source = await manager.toolSource({ startupWaitMs: 1 }).open(place());
    await source.ready;
    const add = toolOf(source, "mcp__all__add");
    expect(add).toMatchObject({ description: "Adds.", effect: "write", risk: "medium" });
    expect(add.inputSchema).toMatchObject({ type: "object", required: ["a", "b"] });
    expect(await add.untrusted?.({}, { outside: [] })).toBe("MCP server all");
    expect(await call(source, "mcp__all__add", { a: 1, b: 2 })).toBe("3");
    expect(await call(source, "mcp__all__weather")).toEqual({ celsius: 7 });
    expect(await call(source, "mcp__all__fail")).toEqual({
      type: "content",
      content: [{ type: "text", text: "It went wrong." }],
      isError: true,
    });
    expect(await call(source, "mcp__all__parts")).toEqual({
      type: "content",
      content: [
        { type: "text", text: "Look:" },
        expect.objectContaining({ type: "image", mediaType: "image/png" }),
        { type: "file", mediaType: "audio/wav", data: "AAAA" },
        { type: "text", text: "Resource note://1: The first note" },
        { type: "text", text: "Resource note://2:\nSecond" },
        { type: "file", mediaType: "application/pdf", name: "note://3", data: "AAAA" },
      ],
    });
    expect(source.problems?.()).toEqual([]);
  });

  it("names the missing SDK and the remedy as a problem of each server, until it is installed", async () => {
    let isMissing = true;
    const loadSdk = (): Promise<unknown> =>
      isMissing ? Promise.reject(new Error("Cannot find the package")) : import("@modelcontextprotocol/client");
    await using manager = createMcpManager({ servers: { all: { ...sdkServer([]), required: true } }, loadSdk });
    await using source = await manager.toolSource({ startupWaitMs: 1000 }).open(place());
    await source.ready;
    expect(source.problems?.()).toEqual([
      'The server "all" is required, and is not there.',
      expect.stringMatching(/^The server "all": .*npm install @modelcontextprotocol\/client$/),
    ]);
    isMissing = false;
    await expect.poll(() => source.tools().map(({ name }) => name)).toContain("mcp__all__add");
    expect(source.problems?.()).toEqual([]);
  });

  it.each(ERAS)("are told the session and report how far they are (%s)", async (_, args) => {
    await using manager = createMcpManager({ servers: { all: sdkServer(args) } });
    await using source = await manager.toolSource({ startupWaitMs: 1 }).open(place());
    await source.ready;
    expect(JSON.parse(String(await call(source, "mcp__all__meta")))).toMatchObject({
      "keelson/session": "s",
      "keelson/idempotency-key": "k",
    });
    const steps: unknown[] = [];
    await call(source, "mcp__all__steps", {}, { progress: (message, ratio) => void steps.push([message, ratio]) });
    expect(steps).toEqual([
      ["step 1", 0.5],
      ["step 2", 1],
    ]);
  });

  it.each(ERAS)("are cancelled with the call (%s)", async (_, args) => {
    await using manager = createMcpManager({ servers: { all: sdkServer(args) } });
    await using source = await manager.toolSource({ startupWaitMs: 1 }).open(place());
    await source.ready;
    const abort = new AbortController();
    const waiting = call(source, "mcp__all__wait", {}, { signal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow(/cancelled/);
    expect(await call(source, "mcp__all__add", { a: 1, b: 1 })).toBe("2");
  });

  it.each(ERAS)("ask the person of the run, who may say no (%s) [MT-05]", async (era, args) => {
    await using manager = createMcpManager({ servers: { all: sdkServer(args) } });
    await using source = await manager.toolSource({ startupWaitMs: 1 }).open(place());
    await source.ready;
    const asked: ToolQuestion[] = [];
    const answered = await call(
      source,
      "mcp__all__book",
      {},
      {
        ask: async (question) => (asked.push(question), { type: "provided", value: { city: "Oslo" } }),
      },
    );
    expect(answered).toBe('accept: {"city":"Oslo"}');
    expect(asked).toMatchObject([{ message: "Which city?", from: "all", schema: { required: ["city"] } }]);
    // A request that the server gave up is made anew with the answer; one that is held open is not.
    expect(asked[0]?.mayRepeat).toBe(era === "stateless" ? true : undefined);
    expect(await call(source, "mcp__all__book", {}, { ask: async () => ({ type: "declined" }) })).toBe("decline: null");
    expect(await call(source, "mcp__all__book", {}, { ask: async () => ({ type: "provided", value: { town: 1 } }) })).toBe("cancel: null");
    // Outside of runs there is nobody to ask.
    expect(await call(source, "mcp__all__book")).toBe("cancel: null");
  });

  it.each(ERAS)("fill in what a form begins with (%s)", async (_, args) => {
    await using manager = createMcpManager({
      servers: { all: sdkServer(args) },
      onElicitation: ({ requestId }) => ({ type: "provided", requestId, value: { nights: 3 } }),
    });
    expect((await manager.callTool("all", "reserve")).content).toEqual([{ type: "text", text: '{"city":"Oslo","nights":3}' }]);
  });

  it("ask the program where it has its own way to ask [MT-05, MT-06, MT-07]", async () => {
    await using manager = createMcpManager({
      servers: { all: sdkServer() },
      onElicitation: ({ requestId, message, server, required }) =>
        message === "Which city?" && server === "all" && required
          ? { type: "provided", requestId, value: { city: "Rome" } }
          : { type: "cancelled", requestId },
    });
    expect((await manager.callTool("all", "book")).content).toEqual([{ type: "text", text: 'accept: {"city":"Rome"}' }]);
  });

  it.each(ERAS)("ask a model within the budget of the run, else they are refused (%s)", async (_, args) => {
    await using manager = createMcpManager({ servers: { all: sdkServer(args) } });
    await using source = await manager.toolSource({ startupWaitMs: 1 }).open(place());
    await source.ready;
    const thought = await call(
      source,
      "mcp__all__think",
      {},
      {
        infer: async ({ messages, maxTokens, from }) => ({
          type: "response",
          content: [{ type: "text", text: `${from} ${maxTokens} ${JSON.stringify(messages[0]?.content)}` }],
          model: "m",
          stopReason: "end-turn",
          usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheCreationTokens: 0, reasoningTokens: 0 },
        }),
      },
    );
    expect(JSON.stringify(thought)).toContain("all 10");
    const refused = await call(
      source,
      "mcp__all__think",
      {},
      { infer: async () => ({ type: "refused", reason: "the budget is spent" }) },
    ).catch((error: unknown) => String(error));
    expect(JSON.stringify(refused)).toContain("the budget is spent");
  });

  it("say what counts against them, and in their favour only where a person vouches for them", async () => {
    const trusted = sdkServer([], { trustAnnotations: true });
    await using manager = createMcpManager({ servers: { plain: sdkServer(), trusted } });
    await using source = await manager.toolSource({ startupWaitMs: 1 }).open(place());
    await source.ready;
    expect(toolOf(source, "mcp__plain__add")).toMatchObject({ effect: "write", risk: "medium" });
    expect(toolOf(source, "mcp__plain__weather")).toMatchObject({ effect: "write", risk: "high" });
    expect(toolOf(source, "mcp__trusted__add")).toMatchObject({ effect: "read", risk: "low" });
    expect(toolOf(source, "mcp__trusted__weather")).toMatchObject({ effect: "write", risk: "high" });
  });

  it.each(ERAS)("change when the server changes them (%s)", async (_, args) => {
    await using manager = createMcpManager({ servers: { all: sdkServer(args) } });
    await using source = await manager.toolSource({ startupWaitMs: 1 }).open(place());
    await source.ready;
    const before = source.tools();
    expect(source.tools()).toBe(before);
    await call(source, "mcp__all__grow");
    await expect.poll(() => source.tools().map(({ name }) => name)).toContain("mcp__all__grown");
    expect(await call(source, "mcp__all__grown")).toBe("new");
  });

  it.each(ERAS)("log to who listens, from the level on that is wished (%s)", async (_, args) => {
    const heard: unknown[] = [];
    await using manager = createMcpManager({
      servers: { usual: sdkServer(args), chatty: sdkServer(args, { logLevel: "debug" }), silent: sdkServer(args, { logLevel: "error" }) },
      onNotice: (server, notice) => void (notice.type === "log" && heard.push([server, notice.level, notice.data])),
    });
    for (const name of ["usual", "chatty", "silent"]) await manager.callTool(name, "chat");
    await expect
      .poll(() => heard)
      .toEqual([
        ["usual", "info", "a fact"],
        ["chatty", "debug", "a detail"],
        ["chatty", "info", "a fact"],
      ]);
    expect(() => manager.register("loud", sdkServer([], { logLevel: "loud" as never }))).toThrow(/`logLevel` "loud".*debug, info/);
  });

  it("read what servers have beside tools, where that is wished", async () => {
    await using manager = createMcpManager({ servers: { all: sdkServer() } });
    await using source = await manager.toolSource({ startupWaitMs: 1, resources: true }).open(place());
    await source.ready;
    // The address is the model's, and may carry anything: a rule or a person lets it be sent, unless somebody vouches for the server.
    expect([toolOf(source, "mcp__all__list_resources").effect, toolOf(source, "mcp__all__read_resource").effect]).toEqual([
      "read",
      "idempotent",
    ]);
    expect(await call(source, "mcp__all__list_resources")).toMatchObject({ resources: [{ uri: "note://1", name: "note" }] });
    expect(await call(source, "mcp__all__read_resource", { uri: "note://1" })).toEqual({
      type: "content",
      content: [{ type: "text", text: "Resource note://1:\nFirst" }],
    });
  });

  it("come from servers in this process, too: tools, or a server object of the SDK [AP-18, MT-01]", async () => {
    const double = defineTool<{ readonly n: number }>({
      name: "double",
      description: "Doubles.",
      effect: "read",
      input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      execute: ({ n }, { progress }) => (progress("half", 0.5), { n: 2 * n }),
    });
    const drop = defineTool({ name: "drop", description: "Drops all.", effect: "write", risk: "high", input: {}, execute: () => "gone" });
    await using manager = createMcpManager({
      servers: {
        tools: { type: "in-process", name: "ours" },
        sdk: { type: "in-process", name: "theirs" },
        none: { type: "in-process", name: "x" },
      },
      inProcess: { ours: [double, drop], theirs: createSdkServer },
    });
    await using source = await manager.toolSource({ startupWaitMs: 1 }).open(place());
    await source.ready;
    const steps: unknown[] = [];
    const progress = (message: string, ratio?: number): void => void steps.push([message, ratio]);
    expect(await call(source, "mcp__tools__double", { n: 4 }, { progress })).toEqual({ n: 8 });
    expect(steps).toEqual([["half", 0.5]]);
    expect(toolOf(source, "mcp__tools__drop")).toMatchObject({ effect: "write", risk: "high" });
    expect(await call(source, "mcp__tools__double", { n: "four" })).toMatchObject({ isError: true });
    expect(await call(source, "mcp__sdk__add", { a: 1, b: 2 })).toBe("3");
    expect(source.problems?.()).toEqual([expect.stringMatching(/no server in this process for "none"/)]);
  });
});

describe("a run that opens a source", () => {
  it("waits for no server that is not required, and has its tools when they are there", async () => {
    await using manager = createMcpManager({ servers: { hangs: faultyServer("hangs"), all: sdkServer() } });
    await using source = await manager.toolSource().open(place());
    expect(source.startupWaitMs).toBeUndefined();
    await source.ready;
    expect(source.tools()).toEqual([]);
    await expect.poll(() => source.tools().length, { timeout: 15_000 }).toBeGreaterThan(5);
  });

  it("waits as long as a server says that is required, and is told where it does not come", async () => {
    const servers = { needed: faultyServer("writes-and-ends", 0, { required: true }), hangs: faultyServer("hangs") };
    await using manager = createMcpManager({ servers });
    await using source = await manager.toolSource().open(place());
    expect(source.startupWaitMs).toBe(10_000);
    await source.ready;
    expect(source.problems?.()).toEqual([
      'The server "needed" is required, and is not there.',
      expect.stringMatching(/exit code 1.*No such database/),
    ]);
  });

  it("waits for each server as long as that says, and tells of one that did not come", async () => {
    const clock = manualClock();
    const servers = {
      slow: faultyServer("hangs", 0, { startupWaitMs: 200 }),
      all: sdkServer([], { startupWaitMs: 5000 }),
      other: faultyServer("hangs"),
    };
    await using manager = createMcpManager({ servers, clock });
    await using source = await manager.toolSource().open(place());
    expect(source.startupWaitMs).toBe(5000);
    let isReady = false;
    const ready = source.ready?.then(() => void (isReady = true));
    await expect.poll(() => source.tools().length, { timeout: 15_000 }).toBeGreaterThan(5);
    expect(isReady).toBe(false);
    await clock.advance(200);
    await ready;
    expect(source.problems?.()).toEqual(['The server "slow" is not there yet: its tools come when it is.']);
  });

  it("has at once what is known of servers since an earlier run, or since they were started", async () => {
    await using manager = createMcpManager({ servers: { all: sdkServer() } });
    const tools = manager.toolSource();
    await manager.startAll();
    const first = await tools.open(place());
    await expect.poll(() => first.tools().length).toBeGreaterThan(5);
    await first[Symbol.asyncDispose]();
    await using second = await tools.open(place());
    expect(second.tools().map(({ name }) => name)).toContain("mcp__all__add");
    expect(second.mayCome?.("mcp__all__gone")).toBe(false);
  });

  it("knows whose tools may still come, and is told when they do", async () => {
    const servers = { hangs: faultyServer("hangs"), all: sdkServer() };
    await using manager = createMcpManager({ servers });
    await using source = await manager.toolSource().open(place());
    const may = (name: string): boolean | undefined => source.mayCome?.(name);
    expect([may("mcp__hangs__x"), may("mcp__all__add"), may("mcp__others__x")]).toEqual([true, true, false]);
    await new Promise<void>((resolve) => source.onChange?.(() => source.tools().length > 0 && resolve()));
    expect([may("mcp__hangs__x"), may("mcp__all__add")]).toEqual([true, false]);
  });

  it("waits for a required server that somebody else has begun to connect", async () => {
    await using manager = createMcpManager({ servers: { all: sdkServer([], { required: true }) } });
    const started = manager.startAll();
    await using source = await manager.toolSource().open(place());
    await source.ready;
    expect(source.tools().map(({ name }) => name)).toContain("mcp__all__add");
    await started;
  });

  it("leaves a disabled server out, and one that is disabled meanwhile", async () => {
    await using manager = createMcpManager({ servers: { one: sdkServer(), two: sdkServer([], { enabled: false }) } });
    await using source = await manager.toolSource({ startupWaitMs: 1 }).open(place());
    await source.ready;
    expect(source.tools().every(({ name }) => name.startsWith("mcp__one__"))).toBe(true);
    await manager.disable("one");
    await expect.poll(() => source.tools()).toEqual([]);
  });

  it("has the tools of servers that are enabled or registered while it works", async () => {
    await using manager = createMcpManager({ servers: { one: sdkServer([], { enabled: false }) } });
    await using source = await manager.toolSource().open(place());
    await source.ready;
    expect([source.tools(), source.problems?.()]).toEqual([[], []]);
    await manager.enable("one");
    manager.register("two", sdkServer());
    const names = (): readonly string[] => source.tools().map(({ name }) => name);
    await expect.poll(names, { timeout: 15_000 }).toEqual(expect.arrayContaining(["mcp__one__add", "mcp__two__add"]));
  });

  it("leaves those that it started in its environment to the manager, as the others are [AP-10, AP-11, AP-12, AP-15]", async () => {
    const clock = manualClock();
    const { createProcessExecutor } = await import("keelson/environment");
    const environment = { exec: createProcessExecutor({ cwd: process.cwd(), env: {} }) };
    await using manager = createMcpManager({ servers: { one: sdkServer([], { enabled: false }) }, clock });
    await using source = await manager.toolSource().open(place({ environment }));
    await source.ready;
    await manager.enable("one");
    const names = (): readonly string[] => source.tools().map(({ name }) => name);
    await expect.poll(names, { timeout: 15_000 }).toContain("mcp__one__pid");
    const pid = Number(await call(source, "mcp__one__pid"));
    expect(manager.status("one")).toMatchObject({ state: "connected", callsSucceeded: 1 });
    await manager.stopAll();
    expect([isAlive(pid), manager.status("one").state]).toEqual([false, "disconnected"]);
    await manager.startAll();
    const again = Number(await call(source, "mcp__one__pid"));
    const stop = manager.monitor(5000);
    process.kill(again, "SIGKILL");
    await expect.poll(() => manager.status("one").state).not.toBe("disconnected");
    await clock.advance(5000);
    await expect.poll(() => call(source, "mcp__one__pid").catch(() => again), { timeout: 15_000 }).not.toBe(again);
    stop();
    await manager.disable("one");
    await expect.poll(names).toEqual([]);
    expect(manager.status("one")).toMatchObject({ state: "disconnected", enabled: false });
    await source[Symbol.asyncDispose]();
    expect(manager.status("one").callsSucceeded).toBeGreaterThanOrEqual(3);
  });

  it("starts programs in its own environment, and leaves none of them", async () => {
    const { createProcessExecutor } = await import("keelson/environment");
    const exec = createProcessExecutor({ cwd: process.cwd(), env: { ONLY_THE_EXECUTORS: "1" } });
    await using manager = createMcpManager({ servers: { all: sdkServer([], { env: { GIVEN: "${HOME}/x" } }) } });
    await manager.startAll();
    const shared = Number((await manager.callTool("all", "pid")).content[0]?.["text"]);
    const source = await manager.toolSource({ startupWaitMs: 1 }).open(place({ environment: { exec } }));
    await source.ready;
    const own = Number(await call(source, "mcp__all__pid"));
    expect(own).not.toBe(shared);
    const environment = JSON.parse(String(await call(source, "mcp__all__environment"))) as { readonly [name: string]: string };
    const names = Object.keys(environment).filter((name) => !name.startsWith("KEELSON_COMMAND_") && !/^(NODE_|__CF|TMPDIR)/.test(name));
    expect(names.sort()).toEqual(["GIVEN", "HOME", "PATH"]);
    expect(environment["GIVEN"]).toBe(`${process.env["HOME"]}/x`);
    await source[Symbol.asyncDispose]();
    expect([isAlive(own), isAlive(shared)]).toEqual([false, true]);
  });
});
