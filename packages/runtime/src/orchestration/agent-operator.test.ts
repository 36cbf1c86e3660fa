import {
  exitReasonCodec,
  operatorInput,
  operatorInputCodec,
  operatorOutputCodec,
  OperatorError,
  OrchestratorError,
  textMessage,
  toOperatorError,
  usd,
  type OperatorInput,
  type RunId,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createAgent } from "../agent/definition/create-agent.ts";
import { createRunner } from "../index.ts";
import { createMemoryEventLog } from "../state/memory/memory-event-log.ts";
import { scriptedModel, type ScriptedTurn } from "../testing/scripted-model.ts";
import type { Rule } from "../context/rule.ts";
import { defineTool } from "../tools/define-tool.ts";
import { agentOperator } from "./agent-operator.ts";
import { createLocalOrchestrator } from "./local-orchestrator.ts";

const input = (fields: Partial<OperatorInput> = {}): OperatorInput => ({
  message: [{ type: "text", text: "go" }],
  trigger: "user",
  metadata: {},
  ...fields,
});
/** Unix ms; a tool that takes its time moves it. */
let now = 1000;
const price = { input: "1000", output: "1000", asOf: "2026-01-01" };

function tool(name: string, effect: "read" | "write", called: string[], execute: () => Promise<string> | string = () => `${name} done`) {
  return defineTool({
    name,
    description: "A tool.",
    effect,
    input: { type: "object" },
    execute: () => {
      called.push(name);
      return execute();
    },
  });
}

/** A log in memory, and each message to a run's inbox as it stands there. */
function listeningLog() {
  const log = createMemoryEventLog({ now: () => now });
  const arrived = new ReadableStream<string>({
    start(stream) {
      const { append } = log;
      log.append = async (id, ...rest) => {
        const appended = await append.call(log, id, ...rest);
        if (id.endsWith("/inbox")) stream.enqueue(id);
        return appended;
      };
    },
  });
  return { log, told: arrived.values() };
}

function set(turns: readonly ScriptedTurn[], options: Partial<Parameters<typeof createAgent>[0]> = {}) {
  const model = scriptedModel(turns, { price });
  const { log, told } = listeningLog();
  const runner = createRunner({
    log,
    agent: createAgent({ name: "clerk", model, instructions: "Keep books.", ...options }),
    random: () => 0.5,
    clock: { now: () => now, after: (_ms, run, timer) => (timer?.keepAlive === false ? undefined : queueMicrotask(run), () => {}) },
  });
  return { model, runner, told, orchestrator: createLocalOrchestrator({ operators: { clerk: agentOperator(runner, "clerk") } }) };
}

const looks = Array.from({ length: 5 }, (_, n): ScriptedTurn => ({ toolCalls: [{ name: "look", input: { n } }] }));
const halting: Rule = { name: "r", trigger: { type: "before", operation: "infer" }, run: () => ({ type: "halt", reason: "closed" }) };
const broken = tool("look", "read", [], () => {
  throw new Error("no such shelf");
});

describe("an agent as an operator", () => {
  it("gives its last text, its ending and what it used; its run has a log in the runner [OR-01, OP-06, OP-11, OP-12, LA-14]", async () => {
    const called: string[] = [];
    const { orchestrator, runner } = set(
      [
        { toolCalls: [{ name: "look" }], usage: { inputTokens: 1000, outputTokens: 0 } },
        { text: "Booked.", usage: { inputTokens: 1000, outputTokens: 0 } },
      ],
      { tools: [tool("look", "read", called)] },
    );
    const id = await orchestrator.start("clerk", input({ session: "books" as never, metadata: { user: "ada" } }));
    const output = await orchestrator.attach(id);
    expect(output).toMatchObject({
      message: [{ type: "text", text: "Booked." }],
      exitReason: { type: "complete" },
      effects: [],
      metadata: {
        tokensIn: 2000,
        tokensOut: 0,
        cost: usd("2"),
        turnsUsed: 2,
        durationMs: 0,
        subDispatches: [{ name: "look", durationMs: 0, success: true }],
        untracked: [],
      },
    });
    const { run, messages } = await runner.sessions.get("books");
    expect(run).toMatchObject({ id, status: "ended" });
    expect(messages).toHaveLength(4);
  });

  it.each<readonly [object, readonly ScriptedTurn[], Partial<OperatorInput["config"] & object>, Parameters<typeof set>[1]]>([
    [{ type: "complete" }, ["done"], {}, {}],
    [{ type: "max-turns" }, looks, { maxTurns: 2 }, {}],
    [{ type: "budget-exhausted" }, looks, { maxCost: usd("0.1") }, {}],
    [{ type: "circuit-breaker" }, looks, {}, { tools: [broken], limits: { maxFailedTurns: 2 } }],
    [{ type: "timeout" }, looks, { maxDurationMs: 5000 }, { tools: [tool("look", "read", [], () => ((now += 5000), "late"))] }],
    [{ type: "halted", by: "rule", reason: "closed" }, ["never"], {}, { rules: [halting] }],
    [
      { type: "halted", by: "middleware", reason: "not here" },
      ["never"],
      {},
      { middleware: [{ name: "doorman", process: () => ({ type: "terminate", reason: "not here" }) }] },
    ],
  ])("ends %j as its run ended: limits and halts are exits, not errors [OP-07, OP-08]", async (exitReason, turns, config, options) => {
    const { orchestrator } = set(turns, { tools: [tool("look", "read", [])], ...options });
    const output = await orchestrator.dispatch("clerk", input({ config }));
    expect(output.exitReason).toEqual(exitReason);
    expect(operatorOutputCodec.decode(JSON.parse(JSON.stringify(output))).exitReason).toEqual(exitReason);
  });

  it("that fails is an error and no exit; an ending of one's own keeps its name on the way [OP-07]", async () => {
    await expect(set([{ error: { kind: "billing", message: "no funds" } }]).orchestrator.dispatch("clerk", input())).rejects.toThrow(
      "no funds",
    );
    const { orchestrator } = set(["done"]);
    const exitReason = { type: "custom", name: "gone fishing" } as const;
    orchestrator.register("angler", {
      execute: async () => ({ ...(await orchestrator.dispatch("clerk", input())), exitReason }),
    });
    const output = await orchestrator.dispatch("angler", input());
    expect(operatorOutputCodec.decode(JSON.parse(JSON.stringify(output))).exitReason).toEqual(exitReason);
    expect(exitReasonCodec.decode({ type: "error" })).toEqual({ type: "error" });
  });

  it("is told only what is new; what was said before is read from its session's log as the request is made [OP-03]", async () => {
    const { orchestrator, model } = set(["Noted.", "Seven.", "Which number?"]);
    const tell = async (text: string, session: string): Promise<void> => {
      const sent = JSON.parse(JSON.stringify(input({ message: [{ type: "text", text }], session: session as never })));
      expect(Object.keys(sent).sort()).toEqual(["message", "metadata", "session", "trigger"]);
      await orchestrator.dispatch("clerk", operatorInputCodec.decode(sent));
    };
    await tell("Remember 7.", "books");
    await tell("Which number was it?", "books");
    await tell("Which number was it?", "others");
    expect(model.requests.map(({ messages }) => messages)).toEqual([
      [textMessage("user", "Remember 7.")],
      [textMessage("user", "Remember 7."), textMessage("assistant", "Noted."), textMessage("user", "Which number was it?")],
      [textMessage("user", "Which number was it?")],
    ]);
  });

  it("applies the configuration of a dispatch, which narrows and never widens what the agent may do [OP-05]", async () => {
    const called: string[] = [];
    const tools = [tool("look", "read", called), tool("write", "write", called)];
    const turns: ScriptedTurn[] = [{ toolCalls: [{ name: "look" }, { name: "write" }] }, "done"];
    const { model, orchestrator } = set(turns, { tools, limits: { maxTurns: 3 } });
    await orchestrator.dispatch("clerk", input({ config: { systemAddendum: "In euros.", allowedOperators: ["look"], maxTurns: 99 } }));
    expect(model.requests[0]).toMatchObject({ system: "Keep books.\n\nIn euros.", tools: [{ name: "look" }] });
    expect(called).toEqual(["look"]);
  });

  it("works under the authority of its dispatch, also where that names no policy [OP-05]", async () => {
    const called: string[] = [];
    const make = () =>
      set([{ toolCalls: [{ name: "look" }, { name: "write" }] }, "done"], {
        tools: [tool("look", "read", called), tool("write", "write", called)],
        permissions: { mode: "bypass-all" },
      }).orchestrator;
    await make().dispatch("clerk", input(), { authority: { policies: [{ mode: "plan-only", rules: [] }], depth: 1 } });
    expect(called.splice(0)).toEqual(["look"]);
    await make().dispatch("clerk", input(), { authority: { policies: [], allowedTools: ["write"], depth: 1 } });
    expect(called.splice(0)).toEqual(["write"]);
  });

  it("asks, where its definition makes it ask, whatever starts it: its dispatch ends awaiting approval [OP-08, AG-19]", async () => {
    const called: string[] = [];
    const erase = { ...tool("erase", "write", called), risk: "high" as const };
    const { orchestrator, runner } = set([{ toolCalls: [{ name: "erase" }] }, "never"], { tools: [erase] });
    const output = await orchestrator.dispatch("clerk", input({ session: "books" as never }));
    expect([output.exitReason, called]).toEqual([{ type: "awaiting-approval" }, []]);
    expect((await runner.sessions.get("books")).run).toMatchObject({ status: "suspended" });
  });

  it("fails with an error that says whether to try again, and hides its model's [TE-01, OP-13, OP-14]", async () => {
    const failureOf = async (turns: readonly ScriptedTurn[], options: Parameters<typeof set>[1] = {}): Promise<unknown> => {
      const error: unknown = await set(turns, { limits: { maxRetries: 0 }, ...options })
        .orchestrator.dispatch("clerk", input())
        .catch((caught: unknown) => caught);
      expect(OrchestratorError.is(error, "operator-error")).toBe(true);
      return OrchestratorError.is(error, "operator-error") && error.failure.operator;
    };
    expect(await failureOf([{ error: { kind: "rate-limit" } }])).toMatchObject({ kind: "retryable" });
    expect(await failureOf([{ error: { kind: "billing", message: "no funds" } }])).toMatchObject({ kind: "model", message: "no funds" });
    expect(await failureOf([{ error: { kind: "context-overflow" } }])).toMatchObject({ kind: "non-retryable" });
    const panic = { instructions: () => Promise.reject(new Error("no prompt today")) };
    expect(await failureOf(["never"], panic)).toMatchObject({ kind: "other", message: expect.stringContaining("no prompt today") });
    const unknown: unknown = await createLocalOrchestrator({ operators: { ghost: agentOperator(set([]).runner, "ghost") } })
      .dispatch("ghost", input())
      .catch((caught: unknown) => caught);
    expect(OrchestratorError.is(unknown, "operator-error") && unknown.failure.operator.message).toMatch(/no agent "ghost"/);
    expect(() => agentOperator({} as never, "x")).toThrow(/no runner/);
    expect(OperatorError.is(unknown)).toBe(false);
  });

  it("fails as its context can't be assembled where its session can't be gone on with, and names whom it called in vain [OP-13]", async () => {
    const erase = { ...tool("erase", "write", []), risk: "high" as const };
    const { orchestrator } = set([{ toolCalls: [{ name: "erase" }] }, "never"], { tools: [erase] });
    const ask = input({ session: "books" as never });
    expect((await orchestrator.dispatch("clerk", ask)).exitReason).toEqual({ type: "awaiting-approval" });
    const failureOf = (dispatched: Promise<unknown>): Promise<unknown> =>
      dispatched.then(
        () => expect.unreachable(),
        (error: unknown) => OrchestratorError.is(error, "operator-error") && error.failure.operator,
      );
    expect(await failureOf(orchestrator.dispatch("clerk", ask))).toMatchObject({ kind: "context-assembly", message: /books/ });
    orchestrator.register("boss", {
      execute: () =>
        orchestrator.dispatch("ghost", operatorInput("go", "task")).catch((error: unknown) => {
          throw toOperatorError(error);
        }),
    });
    expect(await failureOf(orchestrator.dispatch("boss", ask))).toMatchObject({ kind: "sub-dispatch", operator: "ghost" });
  });

  it("is stopped gracefully, aborted and steered through its dispatch [OR-03]", async () => {
    const during = async (
      act: (orchestrator: ReturnType<typeof createLocalOrchestrator>, id: RunId) => Promise<void>,
      turns: readonly ScriptedTurn[] = ["late"],
    ) => {
      const called: string[] = [];
      let reached = (): void => {};
      const working = new Promise<void>((resolve) => (reached = resolve));
      let go = (): void => {};
      const mayGo = new Promise<void>((resolve) => (go = resolve));
      const { orchestrator, model, told } = set([{ toolCalls: [{ name: "work" }] }, ...turns], {
        tools: [tool("work", "write", called, async () => (reached(), await mayGo, "worked"))],
      });
      const id = await orchestrator.start("clerk", input());
      await working;
      await act(orchestrator, id);
      await told.next();
      go();
      return { model, ended: await orchestrator.attach(id).catch((error: unknown) => error) };
    };
    expect((await during((orchestrator, id) => orchestrator.cancel(id, "stop"))).ended).toMatchObject({ exitReason: { type: "stopped" } });
    expect((await during((orchestrator, id) => orchestrator.signal(id, { kind: "stop", payload: null }))).ended).toMatchObject({
      exitReason: { type: "stopped" },
    });
    const steered = await during(
      (orchestrator, id) => orchestrator.signal(id, { kind: "user-message", payload: "and hurry" }),
      ["hurried"],
    );
    expect(steered.ended).toMatchObject({ exitReason: { type: "complete" }, message: [{ text: "hurried" }] });
    expect(steered.model.requests[1]?.messages.at(-1)).toEqual(textMessage("user", "and hurry"));
    const aborted = (await during((orchestrator, id) => orchestrator.cancel(id, "abort"))).ended;
    expect(aborted).toMatchObject({ exitReason: { type: "aborted" } });
  });

  it("takes every signal of its dispatch, by its own routes [OR-03, SI-02]", async () => {
    const signals = [
      { kind: "timer", payload: "tick" },
      { kind: "tool-result", payload: { ok: true } },
      { kind: "order-shipped", payload: 7 },
      { kind: "ignored", payload: null },
    ];
    let reached = (): void => {};
    const isWorking = new Promise<void>((resolve) => (reached = resolve));
    let go = (): void => {};
    const mayGo = new Promise<void>((resolve) => (go = resolve));
    const { orchestrator, model, told } = set([{ toolCalls: [{ name: "work" }] }, "done"], {
      tools: [tool("work", "read", [], async () => (reached(), await mayGo, "worked"))],
      signalRoutes: [{ kind: "ignored", action: { type: "continue" }, priority: 0 }],
    });
    const id = await orchestrator.start("clerk", input());
    await isWorking;
    for (const signal of signals) await orchestrator.signal(id, signal);
    for (const _ of signals) await told.next();
    go();
    await orchestrator.attach(id);
    expect(model.requests[1]?.messages.slice(3)).toEqual([
      textMessage("user", `Signal "timer": tick`),
      textMessage("user", `Signal "tool-result": {"ok":true}`),
      textMessage("user", `Signal "order-shipped": 7`),
    ]);
  });

  it("can be one of many at once [OR-02]", async () => {
    const model = scriptedModel(
      Array.from({ length: 5 }, (): ScriptedTurn => (request) => `re: ${JSON.stringify(request.messages[0]?.content)}`),
    );
    const runner = createRunner({ agent: createAgent({ name: "clerk", model }) });
    const orchestrator = createLocalOrchestrator({ operators: { clerk: agentOperator(runner, "clerk") } });
    const results = await orchestrator.dispatchMany(
      [1, 2, 3, 4, 5].map((n) => ({ operator: "clerk", input: input({ message: [{ type: "text", text: `task ${n}` }] }) })),
    );
    expect(results.map((result) => result.ok && JSON.stringify(result.output.message).includes("task"))).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);
    expect(results.map((result, index) => result.ok && JSON.stringify(result.output.message).includes(`task ${index + 1}`))).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);
  });
});
