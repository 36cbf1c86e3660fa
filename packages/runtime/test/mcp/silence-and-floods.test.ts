import { createMcpManager, type McpLifecycleManager, type McpServerObject } from "keelson/mcp";
import { describe, expect, it } from "vitest";
import { type ManualClock, manualClock } from "../wires/manual-clock.ts";
import { failureOf } from "./failure-of.ts";
import { faultyServer } from "./managers.ts";
import { call, place } from "./places.ts";

const good = async (manager: McpLifecycleManager): Promise<unknown> => (await manager.callTool("one", "good")).content[0]?.["text"];

interface Wire {
  onmessage?: (message: { readonly id?: number; readonly method: string }) => void;
  send(message: unknown): Promise<void>;
  start(): Promise<void>;
}

/** What the work comes to while time passes. */
async function passing<T>(clock: ManualClock, work: PromiseLike<T>): Promise<T> {
  let isOver = false;
  const over = (): void => void (isOver = true);
  work.then(over, over);
  await expect.poll(async () => (await clock.advance(500), isOver), { timeout: 20_000 }).toBe(true);
  return work;
}

describe("a server that is silent, or says too much:", () => {
  it("never lists its tools costs a run nothing but these", async () => {
    const clock = manualClock();
    const servers = { one: faultyServer("never-lists", 0, { timeoutMs: 5000, required: true }), two: faultyServer("works") };
    await using manager = createMcpManager({ servers, clock });
    await manager.startAll();
    await using source = await manager.toolSource({ startupWaitMs: 1 }).open(place());
    const names = (): readonly string[] => source.tools().map(({ name }) => name);
    await expect.poll(names).toEqual(["mcp__two__good", "mcp__two__die"]);
    await expect.poll(async () => (await clock.advance(5000), source.problems?.().join())).toMatch(/did not answer listing its tools/);
    await source.ready;
    expect(names()).toEqual(["mcp__two__good", "mcp__two__die"]);
  });

  it("says without end that its tools changed is asked for them once a second", async () => {
    const clock = manualClock();
    await using manager = createMcpManager({ servers: { one: faultyServer("changes-without-end") }, clock });
    await using source = await manager.toolSource({ startupWaitMs: 1 }).open(place());
    await source.ready;
    const times = (): number =>
      Number(
        /listed-(\d+)/.exec(
          source
            .tools()
            .map(({ name }) => name)
            .join(),
        )?.[1],
      );
    // Once when it was connected, and once when it said first that they changed.
    await expect.poll(times).toBe(2);
    expect(await call(source, "mcp__one__good")).toMatch(/^good/);
    expect(times()).toBe(2);
    await clock.advance(1000);
    await expect.poll(times).toBe(3);
  });

  it("has more and more pages of tools is not read for ever", async () => {
    await using manager = createMcpManager({ servers: { one: faultyServer("pages-without-end") } });
    expect(await failureOf(manager.listTools("one"))).toMatchObject({
      kind: "protocol",
      message: expect.stringMatching(/64.*did not terminate/),
    });
    expect(await good(manager)).toMatch(/^good/);
  });

  it.each(["", "-with-answers", "-with-questions", "-with-progress"])("floods%s is stopped", async (how) => {
    await using manager = createMcpManager({ servers: { one: faultyServer(`floods${how}`, 0, { maxMessageBytes: 100_000 }) } });
    expect(await failureOf(good(manager))).toMatchObject({ kind: "transport" });
    expect(manager.status("one").problems?.join()).toMatch(/bytes that nobody asked for/);
  });

  it("sends 200,000 small notices in a call is stopped, and a few thousand are heard", async () => {
    await using manager = createMcpManager({ servers: { one: faultyServer("floods-with-notices", 200_000) } });
    expect(await failureOf(good(manager))).toMatchObject({ kind: "transport" });
    expect(manager.status("one").problems?.join()).toMatch(/more than 5000 messages that nobody asked for/);
    await using patient = createMcpManager({ servers: { one: faultyServer("floods-with-notices", 3000) } });
    expect(await good(patient)).toBe("after all that");
  });

  it("sends notices without end in this process is stopped", async () => {
    const flooding = (): McpServerObject => ({
      async connect(given) {
        const wire = given as Wire;
        wire.onmessage = ({ id, method }) => {
          if (id === undefined) return;
          const capabilities = { tools: {} };
          const serverInfo = { name: "flooding", version: "1" };
          // It fails once the connection is closed.
          const send = (message: object): void => void wire.send({ jsonrpc: "2.0", ...message }).catch(() => {});
          if (method === "initialize") send({ id, result: { protocolVersion: "2025-06-18", capabilities, serverInfo } });
          else if (method === "tools/call")
            for (let sent = 0; sent < 10_000; sent++) send({ method: "notifications/message", params: { level: "info", data: sent } });
          else send({ id, error: { code: -32601, message: "no" } });
        };
        await wire.start();
      },
    });
    let heard = 0;
    const onNotice = (): void => void heard++;
    await using manager = createMcpManager({
      servers: { one: { type: "in-process", name: "flooding" } },
      inProcess: { flooding },
      onNotice,
    });
    expect(await failureOf(good(manager))).toMatchObject({ kind: "transport", message: expect.stringMatching(/more than 5000 messages/) });
    expect(heard).toBeLessThan(7000);
  });

  it("reports progress without end fails the call when `maxTotalMs` is over", async () => {
    const clock = manualClock();
    const settings = { timeoutMs: 5000, maxTotalMs: 20_000 };
    await using manager = createMcpManager({ servers: { one: faultyServer("progresses", 0, settings) }, clock });
    await manager.startAll();
    let told = 0;
    const start = clock.now();
    const failing = failureOf(manager.callTool("one", "good", {}, { onProgress: () => void told++ }));
    for (let step = 1; step <= 7; step++) {
      const before = told;
      await expect.poll(() => told).toBeGreaterThan(before);
      await clock.advance(3000);
    }
    expect(await failing).toMatchObject({ kind: "timeout", timeoutMs: 20_000, message: expect.stringContaining("`maxTotalMs`") });
    expect(clock.now() - start).toBeGreaterThanOrEqual(20_000);
  });

  it("writes much to its standard error is heard all the same", async () => {
    await using manager = createMcpManager({ servers: { one: faultyServer("writes-much-beside", 5_000_000) } });
    expect(await good(manager)).toBe("after all that");
  });

  it.each(["half-a-message", "drips"])("gives an answer no end (%s) fails the call when its time is over", async (behaviour) => {
    const clock = manualClock();
    await using manager = createMcpManager({ servers: { one: faultyServer(behaviour, 0, { timeoutMs: 5000 }) }, clock });
    await manager.startAll();
    const failing = failureOf(good(manager));
    await clock.advance(0);
    await clock.advance(5000);
    expect(await failing).toMatchObject({ kind: "timeout" });
  });

  it("answers a call that was cancelled is not heard, and the next one is", async () => {
    await using manager = createMcpManager({ servers: { one: faultyServer("answers-late") } });
    const abort = new AbortController();
    await manager.startAll();
    const failing = failureOf(manager.callTool("one", "good", {}, { signal: abort.signal }));
    abort.abort();
    expect(await failing).toMatchObject({ message: expect.stringMatching(/cancelled/) });
    const failingToo = failureOf(manager.callTool("one", "good", {}, { signal: AbortSignal.timeout(0) }));
    await failingToo;
    expect(await good(manager)).toBe("in time");
  });

  it.each(["closes-its-input", "stops-reading"])("hears nothing any more (%s) fails calls", async (behaviour) => {
    const clock = manualClock();
    const settings = { timeoutMs: 5000, maxMessageBytes: 20_000 };
    const manager = createMcpManager({ servers: { one: faultyServer(behaviour, 0, settings) }, clock });
    await manager.startAll();
    // More than a pipe and what waits for it can hold.
    const calls = Array.from({ length: 40 }, () => failureOf(manager.callTool("one", "good", { much: "x".repeat(15_000) })));
    const kinds = (await passing(clock, Promise.all(calls))).map(({ kind }) => kind);
    expect(kinds).toContain("transport");
    expect(kinds.every((kind) => kind === "transport" || kind === "timeout")).toBe(true);
    await passing(clock, manager[Symbol.asyncDispose]());
  });
});
