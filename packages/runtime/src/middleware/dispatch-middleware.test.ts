import {
  OperatorError,
  OrchestratorError,
  type OperatorInput,
  type OperatorOutput,
  type Orchestrator,
  type RunId,
} from "@keelson/protocol";
import { mockOperator, mockOrchestrator } from "keelson/testing";
import { describeOrchestrator } from "keelson/testing/contracts";
import { describe, expect, it } from "vitest";
import { createLocalOrchestrator } from "../orchestration/local-orchestrator.ts";
import { denyOperators } from "./deny-operators.ts";
import { createDispatchStack, type DispatchMiddleware } from "./dispatch-middleware.ts";
import { logDispatches, type DispatchLogEntry } from "./log-dispatches.ts";
import { withDispatchMiddleware } from "./with-dispatch-middleware.ts";

const input = (text: string, fields: Partial<OperatorInput> = {}): OperatorInput => ({
  message: [{ type: "text", text }],
  trigger: "task",
  metadata: {},
  ...fields,
});
const textOf = ({ message }: { readonly message: OperatorOutput["message"] }): string =>
  message.map((part) => (part.type === "text" ? part.text : "")).join("");
const textOutput = (text: string): Partial<OperatorOutput> => ({ message: [{ type: "text", text }] });
const echo = { execute: async (given: OperatorInput) => mockOperator([textOutput(textOf(given))]).execute(given, {} as never) };

const shouting: DispatchMiddleware = {
  name: "shouting",
  async dispatch(operator, given, next) {
    const output = await next(operator, input(textOf(given).toUpperCase()));
    return { ...output, message: [{ type: "text", text: `${textOf(output)}!` }] };
  },
};

const busy = createDispatchStack()
  .observe(logDispatches({ now: () => 0, write: () => {} }))
  .transform({ name: "same", dispatch: (operator, given, next) => next(operator, given) })
  .guard(denyOperators(["nothing here"]))
  .build();
describeOrchestrator("an orchestrator behind dispatch middleware", (operators) =>
  withDispatchMiddleware(createLocalOrchestrator({ operators }), busy),
);
describeOrchestrator("a local orchestrator with dispatch middleware of its own", (operators) =>
  createLocalOrchestrator({ operators, middleware: busy }),
);

describe("dispatch middleware", () => {
  it("wraps every way to dispatch, before and after, with (operator, input, next) [BM-01, BM-02, BM-03]", async () => {
    const inner = mockOrchestrator({ echo });
    const orchestrator = withDispatchMiddleware(inner, createDispatchStack().transform(shouting).build());
    const id = "r_one" as RunId;
    const results = await orchestrator.dispatchMany([{ operator: "echo", input: input("many") }]);
    expect([
      textOf(await orchestrator.dispatch("echo", input("dispatch"))),
      textOf(await orchestrator.attach(await orchestrator.start("echo", input("start")))),
      textOf(await orchestrator.dispatch("echo", input("named"), { id })),
      textOf(await orchestrator.attach(id)),
      results.map((result) => (result.ok ? textOf(result.output) : "failed")),
    ]).toEqual(["DISPATCH!", "START!", "NAMED!", "NAMED!", ["MANY!"]]);
    expect(inner.dispatches.length).toBe(4);
  });

  it("passes the options on and shows them: id, parent, deadline, authority stay what they were", async () => {
    const inner = mockOrchestrator({ echo });
    const seen: unknown[] = [];
    const stack = createDispatchStack()
      .observe({ name: "seen", dispatch: (_operator, _input, _next, options) => void seen.push(options) })
      .transform({ name: "renaming", dispatch: (_operator, _input, next) => next("echo") })
      .build();
    const options = { id: "r_two" as RunId, deadline: 9e15 };
    const orchestrator = withDispatchMiddleware(inner, stack);
    expect(textOf(await orchestrator.dispatch("another", input("a"), options))).toBe("a");
    expect(seen).toEqual([options]);
    expect(inner.dispatches).toEqual([{ operator: "echo", input: input("a"), options }]);
  });

  it("denies operators by name with policy-denied: nothing runs, many fail alone, a start rejects, observers see it [BM-07]", async () => {
    const inner = mockOrchestrator({ echo, deploy: echo });
    const entries: DispatchLogEntry[] = [];
    const stack = createDispatchStack()
      .observe(logDispatches({ now: () => 7, write: (entry) => void entries.push(entry) }))
      .guard(denyOperators(["deploy"], "deployments are frozen"))
      .build();
    const orchestrator = withDispatchMiddleware(inner, stack);
    const denial = { kind: "policy-denied", reason: "deployments are frozen", message: expect.stringContaining('"deploy"') };
    const id = "r_denied" as RunId;
    await expect(orchestrator.dispatch("deploy", input("a"))).rejects.toMatchObject({ name: "OrchestratorError", failure: denial });
    await expect(orchestrator.start("deploy", input("a"), { id })).rejects.toMatchObject({ failure: denial });
    await expect(orchestrator.attach(id)).rejects.toMatchObject({ failure: { kind: "workflow-not-found" } });
    const [denied, allowed] = await orchestrator.dispatchMany([
      { operator: "deploy", input: input("b") },
      { operator: "echo", input: input("c") },
    ]);
    expect(denied).toMatchObject({ ok: false, error: { failure: denial } });
    expect(allowed).toMatchObject({ ok: true });
    expect(inner.dispatches.map(({ operator }) => operator)).toEqual(["echo"]);
    expect(entries.map(({ operator, outcome }) => `${operator} ${outcome.ok ? outcome.exitReason : outcome.kind}`)).toEqual([
      "deploy policy-denied",
      "deploy policy-denied",
      "deploy policy-denied",
      "echo complete",
    ]);
  });

  it("logs each dispatch when it is over: who, where, how long, how it ended [BM-07]", async () => {
    let now = 1_000;
    const entries: DispatchLogEntry[] = [];
    const slow = {
      async execute(given: OperatorInput) {
        now += 250;
        if (textOf(given) === "fail") throw new OperatorError({ kind: "non-retryable", message: "no such city" });
        return echo.execute(given);
      },
    };
    const stack = createDispatchStack()
      .observe(logDispatches({ now: () => now, write: (entry) => void entries.push(entry) }))
      .build();
    const orchestrator = withDispatchMiddleware(createLocalOrchestrator({ operators: { slow } }), stack);
    await orchestrator.dispatch("slow", input("ok", { session: "s1" as never }), { id: "r_1" as RunId });
    await orchestrator.dispatch("slow", input("fail")).catch(() => {});
    expect(entries).toEqual([
      {
        operator: "slow",
        session: "s1",
        id: "r_1",
        startedAt: 1_000,
        durationMs: 250,
        outcome: { ok: true, exitReason: "complete" },
      },
      { operator: "slow", startedAt: 1_250, durationMs: 250, outcome: { ok: false, kind: "operator-error", message: "no such city" } },
    ]);
  });

  it("gives an output from a guard: attach gives what it said, the operator is not started [BM-02]", async () => {
    const inner = mockOrchestrator({ echo });
    const response = await mockOperator([textOutput("from the cache")]).execute(input(""), {} as never);
    const stack = createDispatchStack()
      .guard({ name: "cache", dispatch: async () => response })
      .build();
    const orchestrator = withDispatchMiddleware(inner, stack);
    expect(await orchestrator.attach(await orchestrator.start("echo", input("a")))).toBe(response);
    expect(inner.dispatches).toEqual([]);
  });

  it("fails as an OrchestratorError that names the middleware which threw, or broke the rule of next", async () => {
    const broken: DispatchMiddleware = { name: "broken", dispatch: () => Promise.reject(new TypeError("undefined is not a function")) };
    const silent: DispatchMiddleware = { name: "silent", dispatch: async () => responseOf("a") };
    const responseOf = (text: string): OperatorOutput => ({ ...textOutput(text) }) as OperatorOutput;
    for (const [middleware, message] of [
      [broken, 'The middleware "broken" failed: undefined is not a function'],
      [silent, 'The transformer "silent" did not call next; only a guard may respond in its place.'],
    ] as const) {
      const stack = createDispatchStack().transform(middleware).build();
      const error = await withDispatchMiddleware(mockOrchestrator({ echo }), stack)
        .dispatch("echo", input("a"))
        .catch((thrown: unknown) => thrown);
      expect(OrchestratorError.is(error, "dispatch-failed") && error.failure).toMatchObject({ message });
    }
    const failing = mockOrchestrator({
      failing: { execute: () => Promise.reject(new OperatorError({ kind: "retryable", message: "busy" })) },
    });
    const passing = createDispatchStack().transform(shouting).build();
    await expect(withDispatchMiddleware(failing, passing).dispatch("failing", input("a"))).rejects.toMatchObject({
      failure: { kind: "operator-error", operator: { kind: "retryable" } },
    });
  });

  it("of a local orchestrator holds for the children of its operators, too [BM-07]", async () => {
    const orchestrator: Orchestrator = createLocalOrchestrator({
      middleware: createDispatchStack()
        .guard(denyOperators(["deploy"]))
        .build(),
      operators: {
        deploy: echo,
        lead: {
          async execute(_given, context) {
            const failure = await context
              .startChild({ key: "child", operator: "deploy", input: input("now") })
              .catch((error: unknown) => error);
            return mockOperator([textOutput(OrchestratorError.is(failure) ? failure.failure.kind : "deployed")]).execute(_given, context);
          },
        },
      },
    });
    expect(textOf(await orchestrator.dispatch("lead", input("a")))).toBe("policy-denied");
  });

  it("keeps the outputs of the newest starts only", async () => {
    const inner = mockOrchestrator({ echo });
    const orchestrator = withDispatchMiddleware(inner, createDispatchStack().transform(shouting).build(), { maxFinished: 1 });
    const ids = [await orchestrator.start("echo", input("a")), await orchestrator.start("echo", input("b"))];
    const texts = [];
    for (const id of ids) await orchestrator.attach(id);
    for (const id of ids) texts.push(textOf(await orchestrator.attach(id)));
    // What was forgotten here is attached to as it is.
    expect(texts).toEqual(["A", "B!"]);
  });
});
