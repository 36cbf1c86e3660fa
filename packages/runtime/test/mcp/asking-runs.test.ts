import { createAgent, createRunner, type AgentOptions } from "keelson";
import { createMcpManager } from "keelson/mcp";
import type { Clock } from "keelson/session";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import type { Wait } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { ofType, sharedServices, watch } from "../agent/support.ts";
import { sdkServer } from "./managers.ts";

const PRICE = { input: "0", output: "1000", asOf: "2026-01-01" };

/** An agent that calls a tool of a server once. */
async function serverAgent(tool: string, args: readonly string[], turns: readonly ScriptedTurn[], options: Partial<AgentOptions> = {}) {
  const manager = createMcpManager({ servers: { all: { ...sdkServer(args), required: true } } });
  const model = scriptedModel([{ toolCalls: [{ name: `mcp__all__${tool}`, input: {} }] }, ...turns], { price: PRICE });
  const rules = [{ pattern: "mcp__all__*", behavior: "allow" as const }];
  const agent = createAgent({
    name: "a",
    model,
    toolSources: [manager.toolSource({ startupWaitMs: 10_000 })],
    permissions: { rules },
    ...options,
  } as AgentOptions);
  return { agent, model, [Symbol.asyncDispose]: () => manager[Symbol.asyncDispose]() };
}

/** Servers are programs, which take their time; people are not waited for. */
function ownServices() {
  const { log, blobs, approvalKeys } = sharedServices();
  const waits: number[] = [];
  const clock: Clock = {
    now: () => 1_000_000,
    after(ms, run, options) {
      waits.push(ms);
      return systemClock.after(ms === 4321 ? 0 : ms, run, options);
    },
  };
  return { log, blobs, approvalKeys, clock, waits };
}

function tokenOf(waits: readonly Wait[] | undefined): string {
  return (waits?.[0] as { readonly token: string }).token;
}

describe("a server that asks a person while its tool runs", () => {
  it("in the stateless revision ends the call: the run suspends, somebody answers elsewhere, and it is made again with the answer [MT-05]", async () => {
    const { waits: _waits, ...shared } = ownServices();
    await using first = await serverAgent("book", [], ["done"]);
    const { waits, reason } = await createRunner({ ...shared, agent: first.agent }).run("go", { session: "s" }).outcome;
    expect(reason).toBe("awaiting-decision");
    expect(waits).toMatchObject([{ operation: "mcp__all__book", asked: { message: "Which city?", from: "all" } }]);

    // Another process, with a connection of its own: it knows the log alone.
    await using second = await serverAgent("book", [], ["done"]);
    const runner = createRunner({
      ...shared,
      agent: createAgent({ ...second.agent.options, model: scriptedModel(["done"]) } as AgentOptions),
    });
    await expect(runner.approve(tokenOf(waits), { type: "supply", output: { town: 1 } })).rejects.toThrow(/city/);
    await runner.approve(tokenOf(waits), { type: "supply", output: { city: "Oslo" } });
    const { events, outcome } = await watch(await runner.resume("s"));
    expect(outcome.reason).toBe("complete");
    expect(ofType(events, "tool-result")).toMatchObject([
      { output: 'accept: {"city":"Oslo"}', untrusted: ["all", "mcp__all__book: MCP server all"] },
    ]);
    expect(ofType(events, "tool-unknown")).toEqual([]);
  });

  it("in the older revisions is held open for approvalWaitMs, then cancelled, and never called again [MT-06]", async () => {
    const { waits, ...services } = ownServices();
    await using held = await serverAgent("book", ["old"], ["done"]);
    const { events, outcome } = await watch(createRunner({ ...services, agent: held.agent, approvalWaitMs: 4321 }).run("go"));
    expect(outcome.reason).toBe("complete");
    expect(waits).toContain(4321);
    expect(ofType(events, "approval-request")).toMatchObject([{ asked: { message: "Which city?", from: "all" } }]);
    expect(ofType(events, "tool-result")).toMatchObject([{ output: "cancel: null" }]);
  });

  it.each([[[]], [["old"]]])("is answered by the callback of the runner, or told no (%j)", async (args) => {
    for (const [decision, output] of [
      [{ type: "supply", output: { city: "Rome" } }, 'accept: {"city":"Rome"}'],
      [{ type: "deny" }, "decline: null"],
    ] as const) {
      await using server = await serverAgent("book", args, ["done"]);
      const { events } = await watch(createRunner({ agent: server.agent, approvals: () => decision }).run("go"));
      expect(ofType(events, "tool-result")).toMatchObject([{ output }]);
    }
  });
});

describe.each([[[]], [["old"]]])("a server that asks a model while its tool runs (%j)", (args) => {
  it("is answered by the model of the run, charged to it, where a rule allows it", async () => {
    const rules = [
      { pattern: "mcp__all__*", behavior: "allow" as const },
      { pattern: "infer(all)", behavior: "allow" as const },
    ];
    const thought = { text: "A thought.", usage: { inputTokens: 1, outputTokens: 2 } };
    await using server = await serverAgent("think", args, [thought, "done"], { permissions: { rules } });
    const { events } = await watch(createRunner({ agent: server.agent }).run("go"));
    expect(ofType(events, "tool-result")[0]).toMatchObject({ output: expect.stringContaining("A thought.") });
    expect(ofType(events, "usage").map(({ purpose }) => purpose)).toEqual([undefined, "tool", undefined]);
  });

  it("is refused past the budget of the run, and where a person says no", async () => {
    const free = { permissions: { mode: "bypass-all" as const } };
    const dear = { text: "never", usage: { inputTokens: 0, outputTokens: 10 } };
    // What the first response used leaves less than the ten tokens that the server may be told.
    const first = { toolCalls: [{ name: "mcp__all__think", input: {} }], usage: { inputTokens: 0, outputTokens: 1995 } };
    const manager = createMcpManager({ servers: { all: { ...sdkServer(args), required: true } } });
    await using _closing = manager;
    const model = scriptedModel([first, dear, "done"], { price: PRICE });
    const agent = createAgent({
      name: "a",
      model,
      toolSources: [manager.toolSource({ startupWaitMs: 10_000 })],
      limits: { maxCost: "2" },
      ...free,
    });
    const { events } = await watch(createRunner({ agent }).run("go"));
    expect(ofType(events, "tool-result")[0]).toMatchObject({ isError: true });
    expect(JSON.stringify(ofType(events, "tool-result")[0]?.output)).toContain("budget is spent");
    expect(model.requests).toHaveLength(1);

    await using server = await serverAgent("think", args, ["done"]);
    const denied = await watch(createRunner({ agent: server.agent, approvals: () => ({ type: "deny", reason: "no" }) }).run("go"));
    expect(ofType(denied.events, "approval-request")).toMatchObject([{ operation: "infer", input: { who: "all" } }]);
    expect(ofType(denied.events, "tool-result")[0]).toMatchObject({ isError: true });
    expect(JSON.stringify(ofType(denied.events, "tool-result")[0]?.output)).toContain("declined");
  });
});
