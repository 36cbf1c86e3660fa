import { type Executor, type McpConnectionState, McpError, type McpServerStatus } from "@keelson/protocol";
import { createProcessExecutor } from "keelson/environment";
import { createMcpManager, type McpLifecycleManager, type McpTransport } from "keelson/mcp";
import { describe, expect, it } from "vitest";
import { manualClock } from "../wires/manual-clock.ts";
import { faultyServer, isAlive, sdkServer } from "./managers.ts";

const states = (manager: McpLifecycleManager): object => Object.fromEntries(manager.allStatus().map(({ name, state }) => [name, state]));
const textOf = async (manager: McpLifecycleManager, server: string, tool: string): Promise<string> =>
  String((await manager.callTool(server, tool)).content[0]?.["text"]);

describe("a manager of servers", () => {
  it("is empty at first, and knows several servers by name [AP-08, AP-09, AP-12, MT-02, MT-04, AG-25]", async () => {
    await using manager = createMcpManager();
    expect(manager.allStatus()).toEqual([]);
    manager.register("one", sdkServer(), { reconnectDelayMs: 5 });
    manager.register("two", sdkServer(["old"], { enabled: false }));
    const untouched = { state: "disconnected", callsSucceeded: 0, callsFailed: 0 };
    expect(manager.allStatus()).toEqual<McpServerStatus[]>([
      { name: "one", enabled: true, ...untouched, state: "disconnected" },
      { name: "two", enabled: false, ...untouched, state: "disconnected" },
    ]);
    expect(() => manager.register("one", sdkServer())).toThrow(/already/);
  });

  it("connects the enabled ones, and stops, enables and disables them while it runs [AP-10, AP-11, AP-16]", async () => {
    await using manager = createMcpManager({ servers: { one: sdkServer(), two: sdkServer(["old"], { enabled: false }) } });
    await manager.startAll();
    expect(states(manager)).toEqual({ one: "connected", two: "disconnected" });
    await manager.enable("two");
    expect(states(manager)).toEqual({ one: "connected", two: "connected" });
    expect(manager.status("one").protocolVersion).toBe("2026-07-28");
    expect(manager.status("two").protocolVersion).toBe("2025-11-25");
    const pid = Number(await textOf(manager, "two", "pid"));
    await manager.disable("two");
    expect(isAlive(pid)).toBe(false);
    await expect(manager.callTool("two", "pid")).rejects.toThrow(/disabled/);
    await manager.stopAll();
    expect(states(manager)).toEqual({ one: "disconnected", two: "disconnected" });
  });

  it("lists the tools of a server and calls them, and counts how that ended [AP-13, AP-14, MT-02, MT-03]", async () => {
    await using manager = createMcpManager({ servers: { one: sdkServer() } });
    const tools = await manager.listTools("one");
    expect(tools.find(({ name }) => name === "add")).toMatchObject({
      description: "Adds.",
      inputSchema: { type: "object", required: ["a", "b"] },
      annotations: { readOnlyHint: true },
    });
    expect(await manager.callTool("one", "add", { a: 2, b: 3 })).toEqual({ content: [{ type: "text", text: "5" }], isError: false });
    expect((await manager.callTool("one", "fail")).isError).toBe(true);
    await expect(manager.callTool("one", "nothing")).rejects.toThrow(/nothing/);
    expect(manager.status("one")).toMatchObject({ callsSucceeded: 1, callsFailed: 2 });
    await expect(manager.callTool("other", "add")).rejects.toThrow(/no server "other" here; there are: one/);
  });

  it("keeps up a connection that the caller made, by its own words: connect, reconnect, disconnect, status, tools and calls [AP-19]", async () => {
    const asked: string[] = [];
    let state: McpConnectionState = "disconnected";
    const become = (word: string, next: McpConnectionState) => async (): Promise<void> => {
      asked.push(word);
      state = next;
    };
    const nothing = async (): Promise<never[]> => [];
    const transport: McpTransport = {
      connect: become("connect", "connected"),
      reconnect: become("reconnect", "connected"),
      disconnect: become("disconnect", "disconnected"),
      status: () => ({ state, problems: [] }),
      listTools: async () => [{ name: "add", description: "", inputSchema: { type: "object" } }],
      callTool: async (tool, input) => ({ content: [{ type: "text", text: `${tool} ${JSON.stringify(input)}` }], isError: false }),
      ping: async () => {
        throw new McpError({ kind: "transport", server: "own", message: "It does not answer." });
      },
      listResources: nothing,
      listResourceTemplates: nothing,
      readResource: nothing,
      subscribe: async () => async () => {},
      listPrompts: nothing,
      getPrompt: nothing,
      complete: nothing,
      onNotice: () => () => {},
    };
    const clock = manualClock();
    await using manager = createMcpManager({ clock });
    manager.register("own", transport);
    await manager.startAll();
    expect(states(manager)).toEqual({ own: "connected" });
    expect((await manager.listTools("own")).map(({ name }) => name)).toEqual(["add"]);
    expect((await manager.callTool("own", "add", { a: 1 })).content).toEqual([{ type: "text", text: 'add {"a":1}' }]);
    const stop = manager.monitor(1000);
    await clock.advance(1000);
    // Given up and made anew, since it does not answer.
    await expect.poll(() => asked).toEqual(["connect", "disconnect", "connect"]);
    stop();
    await manager.transport("own").reconnect();
    await manager.stopAll();
    expect(states(manager)).toEqual({ own: "disconnected" });
    expect(asked.slice(3)).toEqual(["reconnect", "disconnect"]);
  });

  it("runs the program of each server where it is told to, and tells of one that may not be run", async () => {
    const commands = createProcessExecutor({ cwd: process.cwd() });
    const asked: string[] = [];
    const exec = (server: string): Executor => ({
      execute(request) {
        asked.push(server);
        if (server === "two") throw new Error("It may not be started.");
        return commands.execute({ ...request, env: { PLACE: server } });
      },
    });
    await using manager = createMcpManager({ servers: { one: sdkServer(), two: sdkServer() }, exec });
    await manager.startAll();
    // The one that may not be run is tried again later.
    expect([...new Set(asked)].toSorted()).toEqual(["one", "two"]);
    expect(JSON.parse(await textOf(manager, "one", "environment"))).toMatchObject({ PLACE: "one" });
    expect(manager.status("two").problems?.[0]).toContain("It may not be started.");
  });

  it("connects a server again that is gone when it is called [AP-14]", async () => {
    await using manager = createMcpManager({ servers: { one: faultyServer("works") } });
    await expect(manager.callTool("one", "die")).rejects.toSatisfy((error) => McpError.is(error, "transport"));
    expect(await textOf(manager, "one", "good")).toMatch(/^good of /);
    expect(manager.status("one")).toMatchObject({ callsSucceeded: 1, callsFailed: 1 });
  });

  it("connects servers again that were lost, later and later, and not all at once [AP-08, MT-04]", async () => {
    const clock = manualClock();
    await using manager = createMcpManager({ servers: { one: faultyServer("works") }, clock, random: () => 0 });
    await manager.startAll();
    await manager.callTool("one", "die").catch(() => {});
    expect(manager.status("one").state).toBe("reconnecting");
    await clock.advance(499);
    expect(manager.status("one").state).toBe("reconnecting");
    await clock.advance(1);
    await expect.poll(() => manager.status("one").state, { timeout: 15_000 }).toBe("connected");
  });

  it("keeps up connections that were made because somebody used them, as those that were started [AP-08, AP-15]", async () => {
    const clock = manualClock();
    await using manager = createMcpManager({ servers: { one: faultyServer("works") }, clock, random: () => 0 });
    await manager.callTool("one", "good");
    await manager.callTool("one", "die").catch(() => {});
    expect(manager.status("one").state).toBe("reconnecting");
    await clock.advance(500);
    await expect.poll(() => manager.status("one").state, { timeout: 15_000 }).toBe("connected");
  });

  it("asks servers whether they answer, and connects those again that don't [AP-15]", async () => {
    const clock = manualClock();
    await using manager = createMcpManager({ servers: { one: faultyServer("works") }, clock });
    await manager.startAll();
    const stop = manager.monitor(5000);
    const before = Number(/\d+/.exec(await textOf(manager, "one", "good"))?.[0]);
    process.kill(before, "SIGSTOP");
    await clock.advance(5000);
    // Silent until the time of a request is over, it is ended, since ending its input does not help.
    await clock.advance(60_000);
    await clock.advance(2000);
    await expect.poll(() => isAlive(before), { timeout: 15_000 }).toBe(false);
    await expect.poll(() => manager.status("one").state, { timeout: 15_000 }).toBe("connected");
    stop();
  });

  it("leaves nothing of a server, and starts none again, once it is disposed of [AP-10, MT-04]", async () => {
    const manager = createMcpManager({ servers: { one: sdkServer() } });
    await manager.startAll();
    const pid = Number(await textOf(manager, "one", "pid"));
    await manager[Symbol.asyncDispose]();
    expect(isAlive(pid)).toBe(false);
    expect(manager.status("one").state).toBe("shutdown");
    await expect(manager.callTool("one", "pid")).rejects.toThrow(/shut down/);
  });
});
