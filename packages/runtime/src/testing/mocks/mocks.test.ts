import { spawnSync } from "node:child_process";
import { createRunner, createAgent } from "keelson";
import {
  mockEnvironment,
  mockExecutionContext,
  mockOperator,
  mockOrchestrator,
  mockStateStore,
  mockTool,
  scriptedModel,
} from "keelson/testing";
import { infer } from "keelson/providers";
import {
  EnvironmentError,
  ModelError,
  OperatorError,
  OrchestratorError,
  StateError,
  type Environment,
  type OperatorInput,
  type Operator,
  type Orchestrator,
  type Provider,
  type Scope,
  type StateReader,
  type StateStore,
  type Tool,
} from "@keelson/protocol";
import { describe, expect, expectTypeOf, it } from "vitest";
import { describeOrchestrator } from "../orchestrator-contract.ts";

const INPUT: OperatorInput = { message: [{ type: "text", text: "go" }], trigger: "task", metadata: {} };
const SCOPE: Scope = { type: "session", id: "s" };
const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

// What remembers what it was asked is held to the same contract as what does the work.
describeOrchestrator("mockOrchestrator", (operators) => mockOrchestrator(operators));

describe("mocks of every protocol", () => {
  it("are what they stand for, also to the compiler [TE-03, TE-05]", () => {
    expectTypeOf(mockOperator([])).toExtend<Operator>();
    expectTypeOf(mockOrchestrator({})).toExtend<Orchestrator>();
    expectTypeOf(mockStateStore()).toExtend<StateStore & StateReader>();
    expectTypeOf(mockEnvironment([])).toExtend<Environment>();
    expectTypeOf(mockTool("t")).toExtend<Tool>();
    expectTypeOf(scriptedModel([])).toExtend<Provider>();
  });

  it("operator: gives outputs by script, remembers its inputs, and says when the script is over [TE-03]", async () => {
    const operator = mockOperator([
      "one",
      { exitReason: { type: "max-turns" } },
      new OperatorError({ kind: "retryable", message: "busy" }),
      (input, context) => `${input.trigger} ${context.runId}`,
    ]);
    const { context } = mockExecutionContext({ runId: "r_7" });
    expect(await operator.execute(INPUT, context)).toMatchObject({ message: [{ text: "one" }], exitReason: { type: "complete" } });
    expect((await operator.execute(INPUT, context)).exitReason).toEqual({ type: "max-turns" });
    expect(OperatorError.is(await rejection(operator.execute(INPUT, context)), "retryable")).toBe(true);
    expect((await operator.execute(INPUT, context)).message).toEqual([{ type: "text", text: "task r_7" }]);
    await expect(operator.execute(INPUT, context)).rejects.toThrow(/has 4 outputs, and this is call 5/);
    expect(operator.inputs).toHaveLength(5);
  });

  it("orchestrator: dispatches to mocks and remembers what it was asked [TE-03]", async () => {
    const orchestrator = mockOrchestrator({ helper: ["helped"] });
    const id = await orchestrator.start("helper", INPUT, { deadline: 9e15 });
    expect((await orchestrator.attach(id)).message).toEqual([{ type: "text", text: "helped" }]);
    expect(OrchestratorError.is(await rejection(orchestrator.dispatch("helper", INPUT)), "operator-error")).toBe(true);
    await rejection(orchestrator.signal(id, { kind: "late", payload: 1 }));
    await orchestrator.query(id, { name: "status", params: {} });
    await orchestrator.cancel(id, "stop");
    expect(orchestrator.dispatches).toEqual([
      { operator: "helper", input: INPUT, options: { deadline: 9e15 } },
      { operator: "helper", input: INPUT, options: {} },
    ]);
    expect([orchestrator.signals, orchestrator.queries, orchestrator.cancellations]).toEqual([
      [{ target: id, signal: { kind: "late", payload: 1 } }],
      [{ target: id, query: { name: "status", params: {} } }],
      [{ target: id, how: "stop" }],
    ]);
  });

  it("state store: keeps values by scope, with versions, conditions and expiry, and remembers writes [TE-03]", async () => {
    let now = 0;
    const store = mockStateStore({
      entries: [[SCOPE, "a", { n: 1 }]],
      now: () => now,
      search: () => [
        { key: "a", score: 1 },
        { key: "b", score: 0.5 },
      ],
    });
    expect(await store.read(SCOPE, "a")).toEqual({ value: { n: 1 }, version: 1 });
    expect(await store.read({ type: "global" }, "a")).toBeUndefined();
    expect(await store.write(SCOPE, "a", [2], { ifVersion: 1 })).toBe(2);
    const conflict = await rejection(store.write(SCOPE, "a", 3, { ifVersion: 1 }));
    expect(StateError.is(conflict, "conflict") && conflict.failure.actualVersion).toBe(2);
    await store.write(SCOPE, "b", "soon gone", { ttlMs: 10 });
    await store.write(SCOPE, "c", null);
    expect([await store.list(SCOPE, ""), await store.list(SCOPE, "", { after: "a", limit: 1 })]).toEqual([["a", "b", "c"], ["b"]]);
    now = 10;
    expect([await store.read(SCOPE, "b"), await store.list(SCOPE, "")]).toEqual([undefined, ["a", "c"]]);
    await store.delete(SCOPE, "c");
    expect(await store.read(SCOPE, "c")).toBeUndefined();
    expect(await store.search(SCOPE, "x", { limit: 1 })).toEqual([{ key: "a", score: 1 }]);
    expect(store.writes.map(({ key, value }) => [key, value])).toEqual([
      ["a", [2]],
      ["b", "soon gone"],
      ["c", null],
    ]);
  });

  it("environment: runs what it holds and remembers the boundaries; failures are its own [TE-03, TE-01]", async () => {
    const environment = mockEnvironment(["inside", new ModelError({ kind: "billing", message: "no funds" })]);
    const { context } = mockExecutionContext();
    const spec = { isolation: [{ type: "process" as const }], credentials: [] };
    expect((await environment.run(INPUT, spec, context)).message).toEqual([{ type: "text", text: "inside" }]);
    const error = await rejection(environment.run(INPUT, spec, context));
    expect(EnvironmentError.is(error, "operator-error") && error.failure.operator.kind).toBe("model");
    expect(environment.runs).toEqual([
      { input: INPUT, spec },
      { input: INPUT, spec },
    ]);
  });

  it("execution context: steps and decisions happen once, and what was told stands in order [TE-03]", async () => {
    const children: string[] = [];
    const { context, events } = mockExecutionContext({
      startChild: async (spec) => (children.push(spec.operator), mockOperator(["child"]).execute(spec.input, context)),
    });
    let acts = 0;
    for (let time = 0; time < 2; time++) expect(await context.step("act", async () => ++acts)).toMatchObject({ ok: true, value: 1 });
    expect(await context.step("fail", () => Promise.reject(new ModelError({ kind: "rate-limit", message: "slow" })))).toMatchObject({
      ok: false,
      failure: { kind: "rate-limit", retryable: true },
    });
    await context.startChild({ key: "c", operator: "helper", input: INPUT });
    await context.write("k", { type: "stop" });
    expect(await context.inbox("point")).toMatchObject([{ type: "stop", key: "k", seq: 1 }]);
    await context.commit("e", { type: "turn-end", turn: 1 });
    context.emit({ type: "text-start" });
    expect([children, events.map(({ type }) => type)]).toEqual([["helper"], ["turn-end", "text-start"]]);
  });

  it("provider and tools: a run on nothing but mocks [TE-07]", async () => {
    const model = scriptedModel([
      { toolCalls: [{ name: "look", input: { at: "door" } }] },
      { toolCalls: [{ name: "look", input: { at: "roof" } }] },
      "It is open.",
    ]);
    const look = mockTool("look", ["closed", new Error("too dark")]);
    const outcome = await createRunner({ agent: createAgent({ name: "a", model, tools: [look] }) }).run("Look.").outcome;
    expect(outcome).toMatchObject({ reason: "complete", text: "It is open." });
    expect(look.calls).toEqual([{ at: "door" }, { at: "roof" }]);
    expect(model.requests.map(({ messages }) => messages.at(-1)?.content[0])).toMatchObject([
      { text: "Look." },
      { output: "closed" },
      { isError: true, output: expect.stringContaining("too dark") },
    ]);
    const error = await rejection(infer(scriptedModel([]), { model: "m", messages: [] }));
    expect(ModelError.is(error) && error.message).toMatch(/script of "scripted\/model" has 0 turns, and this is call 1/);
  });
});

describe("keelson/testing", () => {
  it("can be imported where vitest is not installed; only its contracts need it", () => {
    const importing = (specifier: string) =>
      spawnSync(
        process.execPath,
        [
          "--conditions=source",
          "--input-type=module",
          "-e",
          `import { registerHooks } from "node:module"; registerHooks({ resolve(specifier, context, next) { if (specifier === "vitest") throw new Error("no vitest here"); return next(specifier, context); } }); await import(${JSON.stringify(specifier)});`,
        ],
        { cwd: new URL("../../..", import.meta.url), encoding: "utf8" },
      );
    expect(importing("keelson/testing")).toMatchObject({ status: 0, stderr: "" });
    expect(importing("keelson/testing/contracts").stderr).toContain("no vitest here");
  });
});
