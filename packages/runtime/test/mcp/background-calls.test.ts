import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { InferRequest, ToolCall } from "@keelson/protocol";
import { createAgent, createRunner, defineTool } from "keelson";
import { createMcpManager, type McpLifecycleManager } from "keelson/mcp";
import { createSqliteEventLog } from "keelson/state";
import { scriptedModel, type ScriptedModel, type ScriptedResponse, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { heldClock } from "../agent/held-clock.ts";

/** A server whose one tool takes until it is told to be over. */
interface SlowServer {
  readonly clock: ReturnType<typeof heldClock>;
  readonly manager: McpLifecycleManager;
  readonly calls: readonly ToolCall[];
  answer(output: string): void;
}

function slowServer(): SlowServer {
  const clock = heldClock();
  const { promise: answered, resolve } = Promise.withResolvers<string>();
  const calls: ToolCall[] = [];
  const work = defineTool({
    name: "work",
    description: "Works.",
    input: { type: "object" },
    async execute(_, call) {
      calls.push(call);
      call.progress("half of it", 0.5);
      void clock.waiting(5000).then(() => clock.advance(5000));
      const gaveUp = new Promise<never>((__, reject) => call.signal.addEventListener("abort", () => reject(new Error("given up"))));
      return Promise.race([answered, gaveUp]);
    },
  });
  const manager = createMcpManager({
    clock,
    servers: { slow: { type: "in-process", name: "slow", backgroundAfterMs: 5000 } },
    inProcess: { slow: [work] },
  });
  return { clock, manager, calls, answer: resolve };
}

function working(manager: McpLifecycleManager, turns: readonly ScriptedTurn[], limits = {}) {
  const model = scriptedModel(turns);
  const permissions = { mode: "bypass-all" } as const;
  const agent = createAgent({ name: "worker", model, limits, permissions, toolSources: [manager.toolSource({ startupWaitMs: 10_000 })] });
  return { model, run: createRunner({ agent }).run("go") };
}

const WORK = { toolCalls: [{ name: "mcp__slow__work" }] };
const resultOf = (request: InferRequest): ScriptedResponse => ({
  toolCalls: [{ name: "mcp_result", input: { id: /call_\w+/.exec(JSON.stringify(request.messages))?.[0] ?? "", wait_seconds: 10 } }],
});
const results = ({ requests }: ScriptedModel): readonly unknown[] =>
  (requests.at(-1)?.messages ?? []).flatMap(({ content }) => content.flatMap((part) => (part.type === "tool-result" ? [part.output] : [])));
const texts = ({ requests }: ScriptedModel): string =>
  (requests.at(-1)?.messages ?? [])
    .flatMap(({ content }) => content.flatMap((part) => (part.type === "text" ? [part.text] : [])))
    .join("\n");

describe("a call that takes longer than its server may hold a run up", () => {
  it("goes on in the background, and is waited for by who needs its result, who is then told once", async () => {
    const { manager, calls, answer, clock } = slowServer();
    const { model, run } = working(manager, [
      WORK,
      (request) => (void clock.waiting(10_000).then(() => clock.advance(10_000)), resultOf(request)),
      (request) => (void clock.waiting(10_000).then(() => answer("42")), resultOf(request)),
      "done",
    ]);
    expect(await run.outcome).toMatchObject({ reason: "complete", text: "done" });
    const [first, second, third] = results(model);
    expect(first).toMatch(/^It takes long, and goes on in the background as call_\w+\./);
    expect([second, third]).toEqual([expect.stringMatching(/^call_\w+ is not over: half of it$/), "42"]);
    expect(texts(model)).not.toContain("has ended");
    expect(calls).toHaveLength(1);
    expect(manager.status("slow")).toMatchObject({ callsSucceeded: 1 });
    await manager[Symbol.asyncDispose]();
  });

  it("is told when it is over, between turns", async () => {
    const { manager, answer } = slowServer();
    const { model, run } = working(manager, [
      WORK,
      { toolCalls: [{ name: "mcp_result", input: { id: "call_none" } }], wait: async () => answer("42") },
      "done",
    ]);
    expect(await run.outcome).toMatchObject({ reason: "complete" });
    expect(texts(model)).toMatch(/The background job "mcp__slow__work" \(call_\w+\) has ended: 42/);
    expect(results(model).at(-1)).toMatch(/no call call_none here/);
    await manager[Symbol.asyncDispose]();
  });

  it("is cancelled when the run is over", async () => {
    const { manager, calls } = slowServer();
    const { run } = working(manager, [WORK, "done"]);
    expect(await run.outcome).toMatchObject({ reason: "complete", text: "done" });
    await expect.poll(() => calls[0]?.signal.aborted).toBe(true);
    await manager[Symbol.asyncDispose]();
  });

  it("holds the run up where that has as much at work as it may", async () => {
    const { manager, clock, calls, answer } = slowServer();
    const { model, run } = working(manager, [WORK, WORK, "done"], { maxBackground: 1 });
    await expect.poll(() => clock.now()).toBe(1_010_000);
    expect(calls).toHaveLength(2);
    answer("42");
    expect(await run.outcome).toMatchObject({ reason: "complete", text: "done" });
    expect(results(model)).toEqual([expect.stringMatching(/in the background/), "42"]);
    await manager[Symbol.asyncDispose]();
  });

  it("is not made again when its process died in between: what it did is not known, and the model is told so", async () => {
    const folder = await mkdtemp(join(tmpdir(), "keelson-background-"));
    const paid = async (): Promise<string> => readFile(join(folder, "effects.jsonl"), "utf8").catch(() => "");
    const child = spawn(process.execPath, ["--conditions=source", join(import.meta.dirname, "pay-in-background.ts"), folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const closed = once(child, "close");
    await once(child.stdout, "data");
    await expect.poll(paid).toContain("mcp__shop__pay");
    child.kill("SIGKILL");
    await closed;

    await using log = createSqliteEventLog(join(folder, "log.sqlite"));
    await using manager = createMcpManager();
    const model = scriptedModel(["I see", "noted"]);
    const agent = createAgent({ name: "buyer", model, toolSources: [manager.toolSource()] });
    const outcome = await (await createRunner({ agent, log }).resume("s")).outcome;
    expect(outcome).toMatchObject({ reason: "complete", text: "noted" });
    expect(texts(model)).toMatch(
      /"mcp__shop__pay" \(call_\w+\) ended early .*What it had done by then is not known: look before you start it again/,
    );
    expect((await paid()).trim().split("\n")).toHaveLength(1);
    await rm(folder, { recursive: true });
  });
});
