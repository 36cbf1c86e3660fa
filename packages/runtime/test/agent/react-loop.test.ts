import { textMessage, usd, type Tool } from "keelson";
import { reactLoop } from "keelson/agent";
import { Context, rulesFrom } from "keelson/context";
import { createMemoryBlobStore, createMemoryEventLog } from "keelson/state";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { OperatorError, type AgentEvent } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { impatientClock, ofType, recordingTool, types } from "./support.ts";

const look: ScriptedTurn = { toolCalls: [{ name: "look" }] };

async function loop(turns: readonly ScriptedTurn[], options: Partial<Parameters<typeof reactLoop>[0]> = {}) {
  const context = options.context ?? new Context();
  if (context.messages.length === 0) await context.injectMessage(textMessage("user", "go"));
  const provider = scriptedModel(turns);
  const output = await reactLoop({ provider, clock: impatientClock(), ...options, context });
  return { context, provider, output };
}

describe("reactLoop", () => {
  it.each<[object, RegExp]>([
    [{ config: { maxTurn: 1 } }, /reactLoop\.config has no option "maxTurn": did you mean "maxTurns"/],
    [{ maxSteps: 1 }, /reactLoop has no option "maxSteps": did you mean "config\.maxTurns"/],
  ])("refuses %j and names the option that was probably meant", async (options, message) => {
    await expect(loop(["done"], options)).rejects.toThrow(message);
  });

  it("compiles, infers, appends, runs tools and repeats, on a context of one's own, without anything to boot [CE-01, CE-07, LA-04]", async () => {
    const tool = recordingTool("look", { effect: "write", risk: "critical" });
    let caller: string | undefined;
    const { execute } = tool;
    tool.execute = (input, call) => ((caller = call.agent), execute(input, call));
    const { context, provider, output } = await loop([{ ...(look as object), text: "I look." }, "done"], { tools: [tool] });
    expect(output).toMatchObject({
      message: [{ type: "text", text: "done" }],
      exitReason: { type: "complete" },
      metadata: { turnsUsed: 2, tokensIn: 20, tokensOut: 10 },
    });
    expect(context.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(provider.requests[1]?.messages).toEqual(context.messages.slice(0, 3));
    expect(caller).toBe("react-loop");
  });

  it("leaves the app its data and the context its conversation: the model sees of them what tools return, and no more [LA-13]", async () => {
    const orders = new Map([["7", { state: "open", card: "4242" }]]);
    const ship = recordingTool("ship", {
      effect: "write",
      output: () => {
        const order = orders.get("7") as { state: string };
        order.state = "shipped";
        return order.state;
      },
    });
    const asked = textMessage("user", "Ship order 7.");
    const before = structuredClone(asked);
    const context = new Context();
    await context.injectMessage(asked);
    const { provider } = await loop([{ toolCalls: [{ name: "ship" }] }, "done"], { context, tools: [ship] });
    expect(orders.get("7")).toEqual({ state: "shipped", card: "4242" });
    expect(asked).toEqual(before);
    expect(provider.requests.at(-1)?.messages.at(-1)?.content[0]).toMatchObject({ output: "shipped" });
    expect(JSON.stringify([provider.requests, context.messages])).not.toContain("4242");
  });

  it("asks for nothing that it was not told: no prompt, no model, no limit, no temperature [CE-02]", async () => {
    const { provider } = await loop(["done"]);
    expect(Object.keys(provider.requests[0] ?? {}).sort()).toEqual(["messages", "model"]);
  });

  it("takes prompt, model and settings, and a configuration of this invocation goes before them [CE-02, OP-05]", async () => {
    const options = { systemPrompt: "Be brief.", model: "m1", settings: { maxTokens: 100, temperature: 0.5 } };
    const { provider } = await loop(["done"], options);
    expect(provider.requests[0]).toMatchObject({ system: "Be brief.", model: "m1", maxTokens: 100, temperature: 0.5 });
    const tools: readonly Tool[] = [recordingTool("look", { effect: "read" }), recordingTool("other", { effect: "read" })];
    const turns = Array.from({ length: 9 }, (_, n): ScriptedTurn => ({ toolCalls: [{ name: "other", input: { n } }] }));
    const configured = await loop(turns, {
      ...options,
      tools,
      config: { model: "m2", systemAddendum: "And kind.", maxTurns: 2, allowedOperators: ["look"] },
    });
    expect(configured.provider.requests[0]).toMatchObject({ system: "Be brief.\n\nAnd kind.", model: "m2", tools: [{ name: "look" }] });
    expect(configured.output).toMatchObject({ exitReason: { type: "max-turns" }, metadata: { turnsUsed: 2 } });
    expect(configured.context.messages.at(-1)?.content[0]).toMatchObject({ isError: true, output: expect.stringContaining("only look") });
  });

  it("goes on with the conversation of its context, and fires the context's rules [CE-03, CE-06]", async () => {
    let inferences = 0;
    const context = new Context({ rules: rulesFrom({ name: "count", beforeInference: () => void inferences++ }) });
    await loop(["one"], { context });
    await context.injectMessage(textMessage("user", "more"));
    const { provider } = await loop(["two"], { context });
    expect(provider.requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect([inferences, context.messages.length]).toEqual([2, 4]);
    expect(context.metrics).toMatchObject({ turnsCompleted: 1, modelCalls: 1 });
  });

  it("ends halted where a rule halts, and is cancelled by its signal [CE-18, OP-08]", async () => {
    const context = new Context({ rules: rulesFrom({ name: "r", beforeInference: () => ({ type: "halt", reason: "no" }) }) });
    expect((await loop([], { context })).output.exitReason).toEqual({ type: "halted", by: "rule", reason: "no" });
    const controller = new AbortController();
    const turn: ScriptedTurn = { text: "never", wait: async () => (controller.abort(), new Promise(() => {})) };
    expect((await loop([turn], { signal: controller.signal })).output.exitReason).toEqual({ type: "aborted" });
  });

  it("fails with an operator's error where the model fails [TE-01, OP-13]", async () => {
    const error: unknown = await loop([{ error: { kind: "authentication", message: "who are you?" } }]).catch((caught: unknown) => caught);
    expect(OperatorError.is(error, "model") && error.message).toBe("who are you?");
    const limited: unknown = await loop(
      Array.from({ length: 4 }, (): ScriptedTurn => ({ error: { kind: "rate-limit", retryAfterMs: 7 } as never })),
    ).catch((caught: unknown) => caught);
    expect(OperatorError.is(limited, "retryable") && limited.failure.retryAfterMs).toBe(7);
  });

  it("does not start agents: only a runner can, and the model is told", async () => {
    const { createAgent, agentTool } = await import("keelson");
    const helper = agentTool(createAgent({ name: "helper", model: scriptedModel([]) }));
    const { context, output } = await loop([{ toolCalls: [{ name: "helper", input: { task: "t" } }] }, "then alone"], { tools: [helper] });
    expect(output.exitReason.type).toBe("complete");
    expect(context.messages[2]?.content[0]).toMatchObject({ isError: true, output: expect.stringContaining("only a runner can start it") });
  });

  it("keeps its limit of money without a ledger", async () => {
    const turns = Array.from({ length: 20 }, () => ({ ...look, usage: { outputTokens: 1000 } }));
    const price = { input: "0", output: "100", asOf: "2026-01-01" };
    const { output } = await loop(turns, {
      tools: [recordingTool("look", { effect: "read", output: () => Math.random() })],
      config: { maxCost: usd("0.55") },
      settings: { maxTokens: 1024 },
      provider: scriptedModel(turns, { price }),
    });
    expect(output.exitReason.type).toBe("budget-exhausted");
    expect(output.metadata.cost).toBe("0.5");
  });

  it("writes a log and blobs where it is given some", async () => {
    const log = createMemoryEventLog();
    const tool = recordingTool("look", { effect: "read", output: () => "x".repeat(100_000) });
    const { context } = await loop([look, "done"], {
      tools: [tool],
      log,
      blobs: createMemoryBlobStore(),
      config: { maxCost: usd("1") },
      provider: Object.assign(scriptedModel([look, "done"], { price: { input: "1", output: "1", asOf: "2026-01-01" } })),
    });
    expect(context.messages[2]?.content[0]).toMatchObject({ blob: expect.stringMatching(/^sha256:/) });
    const [info] = await log.list();
    const recorded: string[] = [];
    for await (const record of log.read(info?.log ?? ("" as never))) recorded.push(record.type);
    expect(recorded).toEqual(expect.arrayContaining(["run-start", "tool-result", "run-complete"]));
  });

  it("tells onEvent what happens, in order, what tools and the loop emit included [WE-01, WE-02]", async () => {
    const events: AgentEvent[] = [];
    const tool = recordingTool("look");
    const { execute } = tool;
    tool.execute = (input, call) => (call.progress("looking", 0.5), execute(input, call));
    await loop([{ toolCalls: [{ name: "look" }], text: "I look." }, "done"], {
      tools: [tool],
      onEvent: (event) => void events.push(event),
    });
    expect(types(events)).toEqual(
      expect.arrayContaining([
        "run-start",
        "turn-start",
        "text-delta",
        "tool-progress",
        "tool-end",
        "tool-result",
        "turn-end",
        "run-complete",
      ]),
    );
    expect(ofType(events, "tool-progress")).toMatchObject([{ message: "looking", ratio: 0.5 }]);
    const said = ofType(events, "text-delta").map(({ text }) => text);
    expect(said.join("")).toBe("I look.done");
    const seqs = events.flatMap((event) => ("seq" in event ? [event.seq] : []));
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    expect(events.at(-1)?.type).toBe("run-complete");
  });

  it("ends when onEvent throws, and says so", async () => {
    const broken = loop([look, look, "done"], {
      tools: [recordingTool("look")],
      onEvent: ({ type }) => {
        if (type === "tool-result") throw new Error("no screen");
      },
    });
    await expect(broken).rejects.toMatchObject({
      failure: { kind: "non-retryable", message: 'The loop was ended, since its onEvent failed at "tool-result": no screen' },
    });
  });
});
