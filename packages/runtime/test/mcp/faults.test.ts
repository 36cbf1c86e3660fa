import { createMcpManager, type McpLifecycleManager } from "keelson/mcp";
import { createProcessExecutor } from "keelson/environment";
import { describe, expect, it } from "vitest";
import { manualClock } from "../wires/manual-clock.ts";
import { failureOf } from "./failure-of.ts";
import { faultyServer, isAlive } from "./managers.ts";
import { call, place } from "./places.ts";

const good = async (manager: McpLifecycleManager): Promise<unknown> => (await manager.callTool("one", "good")).content[0]?.["text"];

describe("a server that", () => {
  it("hangs at its start fails when its time is over, and nothing of it is left", async () => {
    const clock = manualClock();
    await using manager = createMcpManager({ servers: { one: faultyServer("hangs") }, clock });
    const starting = manager.startAll();
    await expect.poll(async () => (await clock.advance(30_000), manager.status("one").state)).toBe("reconnecting");
    await starting;
    expect(manager.status("one").problems).toEqual([expect.stringMatching(/connectTimeoutMs/)]);
  });

  it("ends when it is asked something it does not know is started once more, for a handshake", async () => {
    await using manager = createMcpManager({ servers: { one: faultyServer("ends-when-probed") } });
    expect(await good(manager)).toMatch(/^good/);
    expect(manager.status("one").protocolVersion).toBe("2025-06-18");
  });

  it("is no program is named in the error", async () => {
    await using manager = createMcpManager({ servers: { one: { type: "stdio", command: "no-such-program" } } });
    expect(await failureOf(good(manager))).toMatchObject({ message: expect.stringMatching(/no-such-program: there is no such program/) });
  });

  it("dies in the middle of a call fails it, and nobody makes it again", async () => {
    await using manager = createMcpManager({ servers: { one: faultyServer("works") } });
    await using source = await manager.toolSource({ startupWaitMs: 1 }).open(place());
    await source.ready;
    const failed = await failureOf(call(source, "mcp__one__die"));
    expect(failed).toMatchObject({ kind: "transport", message: expect.stringMatching(/is not known: find out before you make it again/) });
    expect(await call(source, "mcp__one__good")).toMatch(/^good/);
    expect(manager.status("one")).toMatchObject({ callsSucceeded: 1, callsFailed: 1 });
  });

  it("never answers fails the call when its time is over", async () => {
    const clock = manualClock();
    await using manager = createMcpManager({ servers: { one: faultyServer("never-answers", 0, { timeoutMs: 5000 }) }, clock });
    await manager.startAll();
    const failing = failureOf(manager.callTool("one", "good"));
    await clock.advance(0);
    await clock.advance(5000);
    expect(await failing).toMatchObject({ kind: "timeout", timeoutMs: 5000 });
    // It is still there.
    expect(manager.status("one").state).toBe("connected");
  });

  it("sends more than a message may have is stopped", async () => {
    await using manager = createMcpManager({ servers: { one: faultyServer("oversized", 20_000, { maxMessageBytes: 10_000 }) } });
    expect(await failureOf(good(manager))).toMatchObject({ kind: "transport" });
    expect(manager.status("one").problems?.join()).toMatch(/maxMessageBytes/);
  });

  it("writes what is no message is borne with, up to a bound", async () => {
    await using manager = createMcpManager({ servers: { one: faultyServer("garbage", 20) } });
    expect(await good(manager)).toBe("after garbage");
    await using other = createMcpManager({ servers: { one: faultyServer("garbage", 2000) } });
    expect(await failureOf(good(other))).toMatchObject({ kind: "transport" });
    expect(other.status("one").problems?.join()).toMatch(/lines that are no messages/);
  });

  it("answers twice, and what nobody asked, is heard once", async () => {
    await using manager = createMcpManager({ servers: { one: faultyServer("duplicates") } });
    expect(await good(manager)).toBe("first");
    expect(await good(manager)).toBe("first");
  });

  it("gives something else than results fails that call", async () => {
    await using manager = createMcpManager({ servers: { one: faultyServer("wrong-result") } });
    expect(await failureOf(good(manager))).toMatchObject({ kind: "protocol", server: "one" });
    expect(manager.status("one").state).toBe("connected");
  });

  it("has tools of no usable form offers the others, and says which it left out", async () => {
    await using manager = createMcpManager({ servers: { one: faultyServer("bad-tools") } });
    await using source = await manager.toolSource({ startupWaitMs: 1 }).open(place());
    await source.ready;
    expect(source.tools().map(({ name }) => name)).toEqual(["mcp__one__good", "mcp__one__die", "mcp__one__typed"]);
    const problems = source.problems?.() ?? [];
    expect(problems).toHaveLength(4);
    for (const name of ["schemaless", "listed", "broken", "good"]) expect(problems.join("\n")).toContain(`"${name}"`);
    expect(await failureOf(call(source, "mcp__one__typed"))).toMatchObject({
      kind: "protocol",
      message: expect.stringMatching(/does not match the `outputSchema`.*was carried out/),
    });
  });

  it("gives structured content that its schema does not allow fails the call, also if its tools were never listed", async () => {
    await using manager = createMcpManager({ servers: { one: faultyServer("bad-tools") } });
    expect(await failureOf(manager.callTool("one", "typed"))).toMatchObject({
      kind: "protocol",
      message: expect.stringMatching(/`outputSchema`.*n.*number/),
    });
  });

  it.each([
    [0, "file"],
    [1, "javascript"],
    [3, "user name"],
  ])("wants a person to open an address that is none of the web (%i, %s) is refused, and the refusal is listed", async (page) => {
    const asked: unknown[] = [];
    await using manager = createMcpManager({
      servers: { one: faultyServer("opens-pages", page) },
      onElicitation(request) {
        asked.push(request);
        return { type: "provided", requestId: request.requestId, value: true };
      },
    });
    expect(await good(manager)).toMatch(/"error":.*refused: .*page/);
    expect(asked).toEqual([]);
    expect(manager.status("one").problems?.join()).toMatch(/wanted a person to open a page, which was refused/);
  });

  it("wants a person to open a page has its address shown in its normal form", async () => {
    const urls: unknown[] = [];
    await using manager = createMcpManager({
      servers: { one: faultyServer("opens-pages", 2) },
      onElicitation({ requestId, url }) {
        urls.push(url);
        return { type: "provided", requestId, value: true };
      },
    });
    expect(await good(manager)).toMatch(/"action":"accept"/);
    expect(urls).toEqual(["https://example.com/a%20b%1B[31m"]);
  });

  it.each([
    ["by itself", {}],
    ["in an environment", { environment: { exec: createProcessExecutor({ cwd: process.cwd() }) } }],
  ])("does not end with its input is ended, with all that it started (%s) [AP-16]", async (_, where) => {
    await using manager = createMcpManager({ servers: { one: faultyServer("ignores-the-end") } });
    const source = await manager.toolSource({ startupWaitMs: 1 }).open(place(where));
    await source.ready;
    const pids =
      String(await call(source, "mcp__one__good"))
        .match(/\d+/g)
        ?.map(Number) ?? [];
    expect(pids.map(isAlive)).toEqual([true, true]);
    await source[Symbol.asyncDispose]();
    await manager.stopAll();
    expect(pids.map(isAlive)).toEqual([false, false]);
  });

  it("says nonsense when it is connected to is named, and tried again later", async () => {
    const clock = manualClock();
    await using manager = createMcpManager({ servers: { one: faultyServer("nonsense-at-first") }, clock });
    await manager.startAll();
    expect(manager.status("one")).toMatchObject({ state: "reconnecting", problems: [expect.stringMatching(/"one" failed at connecting/)] });
    expect(await failureOf(good(manager))).toMatchObject({ server: "one" });
  });

  it("ends right after its answer has answered", async () => {
    await using manager = createMcpManager({ servers: { one: faultyServer("answers-and-ends") } });
    expect(await good(manager)).toBe("the last words");
    // It is started again for the next.
    await expect.poll(() => manager.status("one").state).not.toBe("connected");
    expect(await good(manager)).toBe("the last words");
  });

  it("writes why it dies is quoted", async () => {
    await using manager = createMcpManager({ servers: { one: faultyServer("writes-and-dies") } });
    expect(await failureOf(good(manager))).toMatchObject({ kind: "transport" });
    expect(manager.status("one").problems?.join()).toMatch(/exit code 9.*The disk is full/);
  });

  it("gives content of kinds that nobody knows fails that call, in not too many words", async () => {
    await using manager = createMcpManager({ servers: { one: faultyServer("strange-content") } });
    const failed = await failureOf(good(manager));
    expect(failed).toMatchObject({ kind: "protocol", message: expect.stringMatching(/Invalid result/) });
    expect(failed.message.length).toBeLessThan(1200);
    expect(manager.status("one").state).toBe("connected");
  });
});
